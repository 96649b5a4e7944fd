import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replayDevice } from '../../allocator/replay/replay.ts';
import type { Replay } from '../../allocator/replay/types.ts';
import { runToEnd } from '../../base/task.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import { addressHits } from './address-hits.ts';
import { buildAddressIndex } from './address-index.ts';
import { FreeSweep, freeColumns } from './free-memory.ts';
import { segmentLives } from './segment-lives.ts';

const MI = 2 ** 20;

function drawnOf(snapshot: Snapshot) {
  const [trace] = snapshot.devices;
  const replay = replayDevice(trace, snapshot.settings);
  const timeline = new TimelineIndex(replay, trace.events.length, trace.events.timeUs);
  const index = buildAddressIndex(timeline, segmentLives(replay.segmentSpans, trace.events));
  return { replay, index, eventCount: trace.events.length };
}

/** Free bytes by marking 512-byte pages one by one; programs are small enough. */
function plainFree({ segmentSpans, allocations }: Replay, state: number) {
  const isLive = (table: { start: Int32Array; end: Int32Array }, row: number) =>
    table.start[row] <= state && table.end[row] > state;
  const pieces = Array.from({ length: segmentSpans.length }, (_, row) => row)
    .filter((row) => isLive(segmentSpans, row))
    .sort((a, b) => segmentSpans.address[a] - segmentSpans.address[b]);
  let freeBytes = 0;
  let largestBytes = 0;
  let run = 0;
  let ranges = 0;
  pieces.forEach((row, i) => {
    const { address, sizeBytes, isExpandable, stream, pool, isSmall } = segmentSpans;
    const before = pieces[i - 1];
    const isContinued =
      before !== undefined &&
      isExpandable[row] + isExpandable[before] === 2 &&
      address[before] + sizeBytes[before] === address[row] &&
      [stream, pool, isSmall].every((column) => column[row] === column[before]);
    if (!isContinued) run = 0;
    const used = new Uint8Array(sizeBytes[row] / 512);
    for (let id = 0; id < allocations.length; id++) {
      if (!isLive(allocations, id)) continue;
      const from = (allocations.address[id] - address[row]) / 512;
      used.fill(1, Math.max(0, from), Math.max(0, from + allocations.sizeBytes[id] / 512));
    }
    for (const page of used) {
      if (page === 0 && run === 0) ranges++;
      run = page === 0 ? run + 512 : 0;
      if (page === 0) freeBytes += 512;
      largestBytes = Math.max(largestBytes, run);
    }
  });
  return { freeBytes, largestBytes, ranges };
}

describe('free memory', () => {
  test.each([[['set expandable_segments=true']], [[]]])(
    '%s: equals what no block covers, page by page',
    (settings) => {
      fc.assert(
        fc.property(allocatorProgram(settings), fc.integer({ min: 1, max: 5 }), (lines, step) => {
          const { replay, index, eventCount } = drawnOf(
            snapshotFromText(lines.join('\n')).snapshot,
          );
          const sweep = new FreeSweep(index);
          for (let state = 0; state < eventCount; state += step) {
            expect(sweep.at(state)).toEqual(plainFree(replay, state));
          }
        }),
        { numRuns: 20 },
      );
    },
  );

  test.each([
    'oom_fragmented.pickle.gz',
    'whatif_expandable/oom_fragmented.pickle.gz',
    'streams_record_stream.pickle.gz',
  ])('%s: all free bytes together are reserved less active', (name) => {
    const { replay, index, eventCount } = drawnOf(loadCapture(name));
    const sweep = new FreeSweep(index);
    for (let state = 0; state < eventCount; state += 11) {
      const { reservedBytes, activeBytes } = replay.countersAt(state);
      expect(sweep.at(state).freeBytes).toBe(reservedBytes - activeBytes);
    }
  });

  test('column by column at the states that the map draws', () => {
    const { index, eventCount } = drawnOf(loadCapture('oom_fragmented.pickle.gz'));
    const axis = { axis: 'event', x0: -100, x1: eventCount, width: 300 } as const;
    const { states, largestBytes } = runToEnd(freeColumns(index, axis));
    expect(states[0]).toBe(-1);
    expect(largestBytes[0]).toBeNaN();
    const last = states.at(-1) ?? 0;
    expect(largestBytes.at(-1)).toBe(new FreeSweep(index).at(last).largestBytes);
  });
});

describe('a hit test', () => {
  const drawn = snapshotFromText('+A 4Mi\n+B 4Mi\n+C 4Mi\n-B\n+D 1Mi stream=1');
  const { index, eventCount } = drawnOf(drawn.snapshot);
  const at = (from: number, to = from + 1) => addressHits(index, eventCount - 1, from, to);

  test('finds a block and its segment', () => {
    const { ids, main, segment, freeBytes, gap, totalBytes } = at(0);
    expect({ ids, main, freeBytes, gap, totalBytes }).toEqual({
      ids: [0],
      main: 0,
      freeBytes: 0,
      gap: undefined,
      totalBytes: 4 * MI,
    });
    expect(index.segments.sizeBytes[segment]).toBe(20 * MI);
  });

  test('a gap, from the block below to the block above', () => {
    expect(at(5 * MI)).toMatchObject({
      ids: [],
      main: -1,
      freeBytes: 1,
      gap: { from: 4 * MI, to: 8 * MI },
    });
  });

  test('describes everything under a pixel', () => {
    const { ids, totalBytes, freeBytes, main } = at(2 * MI, 9 * MI);
    expect({ ids, totalBytes, freeBytes, main }).toEqual({
      ids: [0, 2],
      totalBytes: 8 * MI,
      freeBytes: 4 * MI,
      main: 0,
    });
  });

  test('finds nothing if nothing is reserved', () => {
    expect(at(index.layout.totalBytes)).toMatchObject({ main: -1, segment: -1, gap: undefined });
    expect(addressHits(index, -1, 0, 1)).toMatchObject({ main: -1, segment: -1, gap: undefined });
  });
});
