/** Random programs, run by an allocator that only adds up, and reconstructed by the replay. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NarrowColumn } from '../../base/table.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { replayDevice } from './replay.ts';
import type { Replay } from './types.ts';
import { COUNTER_NAMES } from './types.ts';

const SETTINGS = [
  [],
  ['set max_split_size=20971520'],
  ['set expandable_segments=true'],
] as const satisfies readonly (readonly string[])[];

function replayText(lines: readonly string[]) {
  const drawn = snapshotFromText(lines.join('\n'));
  const { devices, settings } = drawn.snapshot;
  return {
    counters: drawn.counters[0],
    trace: devices[0],
    replay: replayDevice(devices[0], settings),
  };
}

describe.each(SETTINGS.map((settings) => ({ settings })))('$settings', ({ settings }) => {
  it('gives the five counters after every event, and their peaks', () => {
    fc.assert(
      fc.property(allocatorProgram(settings), (lines) => {
        const { counters, replay, trace } = replayText(lines);
        for (let t = -1; t < trace.events.length; t++) {
          expect(replay.countersAt(t)).toEqual(counters[t + 1]);
        }
        for (const name of COUNTER_NAMES) {
          const filled = new Float64Array(trace.events.length);
          replay.fillCounter(name, 0, filled);
          expect(Array.from(filled)).toEqual(counters.slice(1).map((c) => c[name]));
          expect(replay.peaks[name].bytes).toBe(Math.max(...counters.map((c) => c[name])));
        }
        expect(replay.anomalies).toEqual([]);
        expect(replay.recording).toBe('complete');
      }),
    );
  });

  it('finds blocks that never overlap and fill the segments together with the free memory', () => {
    fc.assert(
      fc.property(allocatorProgram(settings), fc.nat(), (lines, at) => {
        const { replay, trace } = replayText(lines);
        const t = at % trace.events.length;
        const used = liveRanges(replay, t);
        for (let i = 1; i < used.length; i++)
          expect(used[i].from).toBeGreaterThanOrEqual(used[i - 1].to);
        for (const { from, to } of used) {
          expect(mappedRanges(replay, t).some((s) => s.from <= from && to <= s.to)).toBe(true);
        }
      }),
    );
  });

  it('knows requested and reserved bytes when recording began late', () => {
    fc.assert(
      fc.property(allocatorProgram(settings), fc.nat(), fc.boolean(), (lines, at, isRing) => {
        const cut = [...lines];
        cut.splice(
          settings.length + (at % (lines.length - settings.length)),
          0,
          isRing ? 'ring' : 'record',
        );
        const { counters, replay, trace } = replayText(cut);
        for (let t = -1; t < trace.events.length; t++) {
          const { requestedBytes, reservedBytes } = replay.countersAt(t);
          expect({ requestedBytes, reservedBytes }).toEqual({
            requestedBytes: counters[t + 1].requestedBytes,
            reservedBytes: counters[t + 1].reservedBytes,
          });
        }
        expect(replay.end).toEqual(counters.at(-1));
        expect(replay.anomalies).toEqual([]);
      }),
    );
  });
});

interface Range {
  readonly from: number;
  readonly to: number;
}

function liveRanges({ allocations: a }: Replay, t: number): Range[] {
  return ranges(a.length, (i) => a.start[i] <= t && t < a.end[i], a.address, a.sizeBytes);
}

/** Adjacent mapped pieces form one range. */
function mappedRanges({ segmentSpans: s }: Replay, t: number): Range[] {
  const pieces = ranges(s.length, (i) => s.start[i] <= t && t < s.end[i], s.address, s.sizeBytes);
  const joined: Range[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (last?.to === piece.from) joined[joined.length - 1] = { from: last.from, to: piece.to };
    else joined.push(piece);
  }
  return joined;
}

function ranges(
  length: number,
  isThere: (row: number) => boolean,
  address: Float64Array,
  sizeBytes: NarrowColumn,
): Range[] {
  return Array.from({ length }, (_, row) => row)
    .filter(isThere)
    .map((row) => ({ from: address[row], to: address[row] + sizeBytes[row] }))
    .sort((a, b) => a.from - b.from);
}
