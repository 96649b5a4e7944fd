/**
 * Segments and blocks that cannot be: no allocator has them, so a file that does is damaged, edited or made up.
 * What is dropped or clipped for it is counted, and so is what is shown as it was written.
 */
import type { SnapshotWarning } from './tables.ts';

/** One thing that is wrong, and what was done about it; {n} is how many have it. */
export const CONTRADICTIONS = {
  overlap: '{n} segments lie where another one does; they are left out.',
  overfull:
    '{n} segments have more allocated or active bytes than they hold; they are shown as written.',
  outside: '{n} blocks lie outside of their segment; they are shown as written.',
  blockOverlap: '{n} blocks lie where another one does; they are shown as written.',
  requested: '{n} blocks were requested larger than they are; their size is taken.',
} as const;
export type Contradiction = keyof typeof CONTRADICTIONS;

interface Piece {
  readonly address: number;
  readonly totalBytes: number;
}

export class Contradictions {
  readonly #counts = new Map<Contradiction, number>();

  count(kind: Contradiction, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  get warnings(): SnapshotWarning[] {
    return [...this.#counts].map(([kind, count]) => ({
      code: 'contradiction',
      message: CONTRADICTIONS[kind].replace('{n}', String(count)),
    }));
  }

  /** Those of `sorted`, by address, that begin where no earlier one lies. */
  withoutOverlaps<T extends Piece>(sorted: readonly T[]): T[] {
    let end = -Infinity;
    const kept = sorted.filter(({ address, totalBytes }) => {
      const isFree = address >= end;
      if (isFree) end = address + totalBytes;
      return isFree;
    });
    if (kept.length < sorted.length) this.count('overlap', sorted.length - kept.length);
    return kept;
  }

  /** Counts what of a segment's blocks cannot be. */
  checkSegment(
    segment: Piece & { readonly allocatedBytes: number; readonly activeBytes: number },
    blocks: readonly Piece[],
  ): void {
    const segmentEnd = segment.address + segment.totalBytes;
    if (Math.max(segment.allocatedBytes, segment.activeBytes) > segment.totalBytes)
      this.count('overfull');
    let end = -Infinity;
    for (const { address, totalBytes } of blocks) {
      if (address < segment.address || address + totalBytes > segmentEnd) this.count('outside');
      else if (address < end) this.count('blockOverlap');
      end = Math.max(end, address + totalBytes);
    }
  }
}
