import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replayDevice } from '../../allocator/replay/replay.ts';
import { type AllocationTable, NEVER } from '../../allocator/replay/types.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import type { Viewport } from '../timeline/types.ts';
import { buildAddressIndex } from './address-index.ts';
import { drawHighlights, type FreeRange, gapHighlights, type Highlight } from './highlights.ts';
import { segmentLives } from './segment-lives.ts';

const BACKGROUND = 0xffffffff;
const PALETTE = {
  classes: Uint32Array.of(1),
  background: BACKGROUND,
  pending: 2,
  thin: 3,
  highlight: { block: 0xff0000c0, gap: 0xffc00000 },
};
const NAMES = new Map([
  [BACKGROUND, '.'],
  [0xff000000, '#'],
  [PALETTE.highlight.block, 'B'],
  [PALETTE.highlight.gap, 'G'],
]);

/** One line per row, the highest first; '-' is anything else: a fill. */
function drawn(highlights: readonly Highlight[], states: readonly number[]): string {
  const { length: width } = states;
  const viewport: Viewport = { axis: 'event', x0: 0, x1: 9, y0: 0, y1: 50, width, height: 5 };
  const pixels = new Uint32Array(width * 5).fill(BACKGROUND);
  drawHighlights(highlights, Int32Array.from(states), viewport, PALETTE, pixels);
  const text = Array.from(pixels, (pixel) => NAMES.get(pixel) ?? '-').join('');
  return text.match(new RegExp(`.{${width}}`, 'g'))?.join('\n') ?? '';
}

const STATES = [-1, 0, 2, 4, 6, 8, -1];

test('an outline from the first column that shows it to the last', () => {
  const place = { offset: 10, bytes: 30, from: 1, to: 7 };
  expect(drawn([place], STATES)).toBe('.......\n..###..\n..#-#..\n..###..\n.......');
  expect(drawn([{ ...place, style: 'block' }], STATES)).toBe(
    '.......\n..BBB..\n..B.B..\n..BBB..\n.......',
  );
  expect(drawn([{ ...place, style: 'gap' }], STATES)).toBe(
    '.......\n..GGG..\n..G-G..\n..GGG..\n.......',
  );
});

test('is a line if thinner than a row, and is not drawn between two columns', () => {
  expect(drawn([{ offset: 22, bytes: 1, from: 2, to: 3 }], STATES)).toBe(
    '.......\n.......\n..#....\n.......\n.......',
  );
  expect(drawn([{ offset: 22, bytes: 1, from: 3, to: 4 }], STATES)).not.toContain('#');
});

test('continues beyond the frame, without a line there', () => {
  const place = { offset: -100, bytes: 1000, from: -1, to: 99 };
  expect(drawn([{ ...place, style: 'gap' }], [3, 4, 5])).not.toContain('G');
  expect(drawn([{ ...place, from: 4 }], [3, 4, 5]).split('\n')[0]).toBe('.#-');
});

const MI = 2 ** 20;

function indexOf(lines: string) {
  const [trace] = snapshotFromText(lines).snapshot.devices;
  const replay = replayDevice(trace, {});
  const timeline = new TimelineIndex(replay, trace.events.length);
  const lives = segmentLives(replay.segmentSpans, trace.events);
  return { index: buildAddressIndex(timeline, lives), replay, events: trace.events.length };
}

/** The parts of the segments that no block covers at a state, found by marking pages. */
function plainGaps(allocations: AllocationTable, segments: AllocationTable, state: number) {
  const gaps: FreeRange[] = [];
  const isLive = (table: AllocationTable, row: number) =>
    table.start[row] <= state && table.end[row] > state;
  for (let row = 0; row < segments.length; row++) {
    if (!isLive(segments, row)) continue;
    const used = new Uint8Array(segments.sizeBytes[row] / 512);
    for (let id = 0; id < allocations.length; id++) {
      if (!isLive(allocations, id)) continue;
      const from = (allocations.address[id] - segments.address[row]) / 512;
      used.fill(1, Math.max(0, from), Math.max(0, from + allocations.sizeBytes[id] / 512));
    }
    for (let page = 0; page < used.length; ) {
      const from = page;
      while (page < used.length && used[page] === 0) page++;
      const address = segments.address[row] + from * 512;
      if (page > from) gaps.push({ address, sizeBytes: (page - from) * 512 });
      else page++;
    }
  }
  return gaps;
}

describe('gaps of a finding', () => {
  test('last from the free that created them to the next block in them', () => {
    const { index, events } = indexOf('+A 4Mi\n+B 4Mi\n-A\n+C 2Mi\n-C\n+D 4Mi');
    const { address, start, end } = index.timeline.allocations;
    const at = (state: number) =>
      gapHighlights(index, state, [{ address: address[0], sizeBytes: 4 * MI }]);
    const place = { offset: 0, bytes: 4 * MI, style: 'gap' };
    expect(at(end[0])).toEqual([{ ...place, from: end[0], to: start[2] }]);
    expect(at(end[2])).toEqual([{ ...place, from: end[2], to: start[3] }]);
    const tail = gapHighlights(index, events - 1, [
      { address: address[0] + 8 * MI, sizeBytes: 512 },
    ]);
    expect(tail).toMatchObject([{ offset: 8 * MI, to: NEVER }]);
  });

  test('do not exist outside of everything that was ever reserved', () => {
    const { index } = indexOf('+A 4Mi');
    expect(gapHighlights(index, 0, [{ address: 512, sizeBytes: 512 }])).toEqual([]);
    const far = index.timeline.allocations.address[0] + 2 ** 40;
    expect(gapHighlights(index, 0, [{ address: far, sizeBytes: 512 }])).toEqual([]);
  });

  test('are free at every state of the place, and not beyond it', () => {
    fc.assert(
      fc.property(allocatorProgram([]), fc.nat(200), (lines, chosen) => {
        const { index, replay, events } = indexOf(lines.join('\n'));
        const state = chosen % Math.max(1, events);
        const { allocations } = replay;
        const gaps = plainGaps(allocations, index.segments, state);
        const highlights = gapHighlights(index, state, gaps);
        expect(highlights.length).toBe(gaps.length);
        const isFree = (offset: number, bytes: number, at: number) => {
          const { layout, segments } = index;
          const hits = (table: AllocationTable, offsets: Float64Array) =>
            Array.from({ length: table.length }, (_, row) => row).some(
              (row) =>
                table.start[row] <= at &&
                table.end[row] > at &&
                offsets[row] < offset + bytes &&
                offsets[row] + table.sizeBytes[row] > offset,
            );
          return (
            hits(segments, layout.segmentOffset) && !hits(allocations, layout.allocationOffset)
          );
        };
        for (const { offset, bytes, from, to } of highlights) {
          expect(from <= state && state < to).toBe(true);
          const last = Math.min(to, events) - 1;
          for (let at = Math.max(0, from); at <= last; at++) {
            expect(isFree(offset, bytes, at)).toBe(true);
          }
          if (from > 0) expect(isFree(offset, bytes, from - 1)).toBe(false);
          if (to < events) expect(isFree(offset, bytes, to)).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });
});
