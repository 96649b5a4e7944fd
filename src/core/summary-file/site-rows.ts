/** Allocated memory by call site: how much of each stands at the peak and at the end. */
import { classify } from '../classes/classify.ts';
import { MEMORY_CLASSES } from '../classes/types.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { type AllocationTable, NEVER } from '../replay/types.ts';
import { type EventIndex, NO_STACK, type StackIndex } from '../snapshot/tables.ts';
import type { SiteKeys } from './site-keys.ts';
import type { SiteFigures } from './types.ts';

export interface SiteRow extends SiteFigures {
  readonly key: string;
  /** Key of its line. */
  readonly line: string;
  readonly stack: StackIndex;
  /** Its first allocation. */
  readonly first: number;
  /** {@link MemoryClass} of the largest of its allocations at the peak; -1 where none stands there. */
  readonly class: number;
}

/**
 * One row a key, the largest at the peak first. The bytes at the peak add up to the counter of allocated
 * bytes after `peak`, those at the end to the counter at the end.
 */
export function siteRows(context: DeviceContext, keys: SiteKeys, peak: EventIndex): SiteRow[] {
  const { replay, stacks, snapshot } = context;
  const { allocations } = replay;
  const { classOf } = classify(context);
  const sums = new SiteColumns(snapshot.stacks.length - NO_STACK, classOf);
  for (let id = 0; id < allocations.length; id++) {
    sums.add(allocations, id, stacks.siteOf(allocations.stack[id]) - NO_STACK, peak);
  }
  const byKey = new Map<string, SiteRow>();
  for (const row of sums.used()) {
    const isFromBefore = row.first < allocations.preexisting;
    const key = keys.keyOf(row.stack, isFromBefore);
    const known = byKey.get(key);
    if (known !== undefined) byKey.set(key, { ...known, ...sumOf(known, row) });
    else byKey.set(key, { key, line: keys.lineKeyOf(row.stack, isFromBefore), ...row });
  }
  return [...byKey.values()].sort(
    (a, b) =>
      b.peakBytes - a.peakBytes ||
      b.endBytes - a.endBytes ||
      b.allocations - a.allocations ||
      a.first - b.first,
  );
}

/** What most of a site's memory at the peak is, as JSON has it; null where none stands there. */
export const classId = ({ class: own }: SiteRow): string | null =>
  own < 0 ? null : MEMORY_CLASSES[own].id;

/** Figures of several sites as one. */
export function sumOf(...sites: readonly SiteFigures[]): SiteFigures {
  const total = (value: (site: SiteFigures) => number) =>
    sites.reduce((sum, site) => sum + value(site), 0);
  return {
    allocations: total((site) => site.allocations),
    peakCount: total((site) => site.peakCount),
    peakBytes: total((site) => site.peakBytes),
    endBytes: total((site) => site.endBytes),
  };
}

class SiteColumns {
  readonly #first: Int32Array;
  readonly #allocations: Int32Array;
  readonly #peakCount: Int32Array;
  readonly #peakBytes: Float64Array;
  readonly #endBytes: Float64Array;
  readonly #classOf: Uint8Array;
  readonly #class: Int8Array;
  readonly #largestBytes: Float64Array;

  constructor(rows: number, classOf: Uint8Array) {
    this.#classOf = classOf;
    this.#class = new Int8Array(rows).fill(-1);
    this.#largestBytes = new Float64Array(rows).fill(-1);
    this.#first = new Int32Array(rows);
    this.#allocations = new Int32Array(rows);
    this.#peakCount = new Int32Array(rows);
    this.#peakBytes = new Float64Array(rows);
    this.#endBytes = new Float64Array(rows);
  }

  add(
    { start, freeRequested, sizeBytes }: AllocationTable,
    id: number,
    row: number,
    peak: EventIndex,
  ): void {
    if (this.#allocations[row]++ === 0) this.#first[row] = id;
    if (start[id] <= peak && freeRequested[id] > peak) {
      this.#peakCount[row]++;
      this.#peakBytes[row] += sizeBytes[id];
      if (sizeBytes[id] > this.#largestBytes[row]) {
        this.#largestBytes[row] = sizeBytes[id];
        this.#class[row] = this.#classOf[id];
      }
    }
    if (freeRequested[id] === NEVER) this.#endBytes[row] += sizeBytes[id];
  }

  *used(): Generator<Omit<SiteRow, 'key' | 'line'>> {
    for (let row = 0; row < this.#first.length; row++) {
      if (this.#allocations[row] === 0) continue;
      yield {
        stack: row + NO_STACK,
        first: this.#first[row],
        allocations: this.#allocations[row],
        peakCount: this.#peakCount[row],
        peakBytes: this.#peakBytes[row],
        endBytes: this.#endBytes[row],
        class: this.#class[row],
      };
    }
  }
}
