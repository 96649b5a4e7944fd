import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AllocatorState } from '../../allocator/state/types.ts';
import { BlockState } from '../../format/snapshot/tables.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { type BarLook, segmentBars } from './segment-bars.ts';
import { StateReader } from './state-reader.ts';

/** Share of pixel `x` of `width` that each live block of a segment covers, by looking at all of them. */
function covers({ segments, blocks }: AllocatorState, row: number, x: number, width: number) {
  const scale = width / segments.sizeBytes[row];
  const found: { id: number; share: number; isPending: boolean }[] = [];
  for (let b = segments.firstBlock[row]; b < segments.firstBlock[row + 1]; b++) {
    if (blocks.allocation[b] < 0) continue;
    const x0 = (blocks.address[b] - segments.address[row]) * scale;
    const x1 = x0 + blocks.sizeBytes[b] * scale;
    const share = Math.min(x + 1, x1) - Math.max(x, x0);
    const isPending = blocks.state[b] === BlockState.PendingFree;
    if (share > 0) found.push({ id: blocks.allocation[b], share, isPending });
  }
  return found;
}

/** Class 5 for the first allocation, 6 for the second and so on. */
function look(matches?: Uint8Array): BarLook {
  return { matches, classOf: Uint8Array.from({ length: 200 }, (_, id) => 5 + (id % 200)) };
}

function stateOf(text: string): AllocatorState {
  const [context] = contextsOf(snapshotFromText(text).snapshot);
  return new StateReader(context).at(Infinity, 'address').state;
}

describe('a bar', () => {
  it('shows in each pixel the block that covers most of it, and how much is used', () => {
    fc.assert(
      fc.property(allocatorProgram([]), fc.constantFrom(1, 3, 7, 40), (lines, width) => {
        const state = stateOf(lines.join('\n'));
        const rows = Int32Array.from({ length: state.segments.length }, (_, row) => row);
        const bars = segmentBars(state, rows, width, look());
        for (const row of rows) {
          for (let x = 0; x < width; x++) {
            const at = row * width + x;
            const live = covers(state, row, x, width);
            const most = Math.max(0, ...live.map(({ share }) => share));
            const used = live.reduce((sum, { share }) => sum + share, 0);
            const shown = live.find(({ id }) => id === bars.allocation[at]);
            expect(shown?.share ?? 0).toBeCloseTo(most, 9);
            expect(bars.isPending[at]).toBe(Number(shown?.isPending ?? false));
            const expected = live.length === 0 ? 0 : Math.max(1, Math.round(255 * used));
            expect(Math.abs(bars.used[at] - expected)).toBeLessThanOrEqual(1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps a block visible even if it is far thinner than a pixel', () => {
    const state = stateOf('+big 8Gi @a.py:1 f\n-big\n+tiny 2Mi at=0x7f0000000000 @b.py:1 g');
    const { allocation, used, classOf } = segmentBars(state, Int32Array.of(0), 10, look());
    expect([...allocation]).toEqual([1, -1, -1, -1, -1, -1, -1, -1, -1, -1]);
    expect(used[0]).toBe(1);
    expect([...classOf]).toEqual([6, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('shows a match before larger blocks that do not match', () => {
    const state = stateOf('+a 4Mi @a.py:1 f\n+b 2Mi @b.py:1 g\n+c 3Mi @c.py:1 h');
    const found = segmentBars(state, Int32Array.of(0), 1, look(Uint8Array.of(0, 1, 0)));
    expect([...found.allocation]).toEqual([1]);
    expect([...found.isMatch]).toEqual([1]);
    const none = segmentBars(state, Int32Array.of(0), 1, look(Uint8Array.of(0, 0, 0)));
    expect([...none.allocation]).toEqual([0]);
    expect([...none.isMatch]).toEqual([0]);
  });

  it('shows the same used bytes as the state, in a real capture', () => {
    const [context] = contextsOf(loadCapture('oom_fragmented.pickle.gz'));
    const { state } = new StateReader(context).at(6195, 'address');
    const rows = Int32Array.from({ length: state.segments.length }, (_, row) => row);
    const width = 2000;
    const { used } = segmentBars(state, rows, width, look());
    for (const row of rows) {
      const share =
        used.subarray(row * width, (row + 1) * width).reduce((sum, u) => sum + u, 0) /
        (255 * width);
      const { allocatedBytes, pendingBytes, sizeBytes } = state.segments;
      const expected = (allocatedBytes[row] + pendingBytes[row]) / sizeBytes[row];
      expect(share).toBeCloseTo(expected, 2);
    }
  });
});
