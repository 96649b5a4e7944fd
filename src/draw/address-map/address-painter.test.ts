import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replayDevice } from '../../allocator/replay/replay.ts';
import type { Replay } from '../../allocator/replay/types.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { naiveAddressPixel, naiveMemory, offsetOfAddress } from '../../testing/naive-addresses.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import type { Viewport } from '../timeline/types.ts';
import { type AddressIndex, buildAddressIndex } from './address-index.ts';
import { type AddressFrame, AddressPainter, type AddressScene } from './address-painter.ts';
import {
  type AddressPalette,
  AWAITING_CODE,
  addressColorTable,
  BARE_CODE,
  BARE_SHIFT,
  EDGE_BIT,
  FREE_SHIFT,
  GAP_CODE,
  MIXED_CODE,
} from './address-rows.ts';
import { segmentLives } from './segment-lives.ts';

const CLASSES = 3;
/** Chosen so that all their shades differ, which a test below checks. */
const PALETTE: AddressPalette = {
  classes: Uint32Array.of(0xff1020f0, 0xff20e010, 0xfff03008),
  background: 0xffffffff,
  pending: 0xfff010d8,
  thin: 0xff6a7b4d,
  gap: 0xff10d0e8,
  separator: 0xff123456,
  dim: 0,
};

const NAMES: readonly (readonly [code: number, name: string])[] = [
  [0, '0'],
  [1, '1'],
  [2, '2'],
  [MIXED_CODE, 'mixed'],
  [AWAITING_CODE, 'pending'],
];

/** Color to the oracle's words. A gap's edge is a separator, however much of it is not reserved. */
const WORDS = new Map<number, string>();
const table = addressColorTable(PALETTE);
for (let bare = 0; bare < 4; bare++) {
  for (const [code, name] of NAMES) {
    for (let free = 0; free < 8; free++) {
      const at = code | (free << FREE_SHIFT) | (bare << BARE_SHIFT);
      WORDS.set(table[at], `${name} free ${free} bare ${bare}`);
      WORDS.set(table[at | EDGE_BIT], `${name} free ${free} bare ${bare} edge`);
    }
  }
  WORDS.set(table[GAP_CODE | (bare << BARE_SHIFT)], `gap bare ${bare}`);
}
WORDS.set(PALETTE.separator, 'separator');
WORDS.set(table[BARE_CODE], 'bare');
/** Five colors of 8 by 4 shades, plain and as an edge; four gaps, separator and bare. */
const WORD_COUNT = 5 * 8 * 4 * 2 + 4 + 2;

interface Drawn {
  readonly snapshot: Snapshot;
  readonly replay: Replay;
  readonly index: AddressIndex;
  readonly classOf: Uint8Array;
  readonly eventCount: number;
}

function drawnOf(snapshot: Snapshot): Drawn {
  const [trace] = snapshot.devices;
  const replay = replayDevice(trace, snapshot.settings);
  const eventCount = trace.events.length;
  const timeline = new TimelineIndex(replay, eventCount, trace.events.timeUs);
  const index = buildAddressIndex(timeline, segmentLives(replay.segmentSpans, trace.events));
  const classOf = Uint8Array.from(replay.allocations.sizeBytes, (_, id) => (id * 7) % CLASSES);
  return { snapshot, replay, index, classOf, eventCount };
}

const sceneOf = (viewport: Viewport, { classOf }: Drawn): AddressScene => {
  return { viewport, classOf, palette: PALETTE, mask: undefined, highlights: [] };
};

/** Pixels that differ from the oracle's, in words. */
function mistakes(drawn: Drawn, frame: AddressFrame): string[] {
  const { replay, index, classOf } = drawn;
  const { viewport, pixels, states } = frame;
  const { width, height } = viewport;
  const offsetOf = (address: number) => offsetOfAddress(index.layout, address) ?? Number.NaN;
  const wrong: string[] = [];
  for (let column = 0; column < width; column++) {
    const state = states[column];
    const { allocations, segmentSpans } = replay;
    const memory = naiveMemory(allocations, segmentSpans, offsetOf, classOf, state);
    for (let row = 0; row < height; row++) {
      const pixel = state < 0 ? 'bare' : naiveAddressPixel(memory, viewport, row);
      const expected = /^gap.*edge$/.test(pixel) ? 'separator' : pixel;
      const word = WORDS.get(pixels[(height - 1 - row) * width + column]);
      if (word !== expected) wrong.push(`column ${column} row ${row}: ${word}, not ${expected}`);
    }
  }
  return wrong;
}

/** Rows of a power of two bytes, so that the oracle's sums are exact too. */
const randomView = fc
  .record({
    width: fc.integer({ min: 1, max: 20 }),
    height: fc.integer({ min: 1, max: 32 }),
    firstColumn: fc.integer({ min: -4, max: 30 }),
    columnWidth: fc.constantFrom(0.5, 1, 3, 8),
    rowBytes: fc.constantFrom(0.25, 256, 2 ** 18, 2 ** 20, 2 ** 22, 2 ** 25),
    firstRow: fc.integer({ min: -2, max: 40 }),
  })
  .map(
    ({ width, height, firstColumn, columnWidth, rowBytes, firstRow }): Viewport => ({
      axis: 'event',
      width,
      height,
      x0: firstColumn * columnWidth,
      x1: (firstColumn + width) * columnWidth,
      y0: firstRow * rowBytes,
      y1: (firstRow + height) * rowBytes,
    }),
  );

const programs = fc
  .constantFrom([], ['set expandable_segments=true'], ['record'])
  .chain((settings) => allocatorProgram(settings));

describe('a frame of the address map', () => {
  test('has a different color for everything that a pixel can show', () => {
    expect(WORDS.size).toBe(WORD_COUNT);
  });

  test('has the pixels of the plain drawing', () => {
    fc.assert(
      fc.property(programs, randomView, (lines, viewport) => {
        const drawn = drawnOf(snapshotFromText(lines.join('\n')).snapshot);
        const frame = new AddressPainter(drawn.index).draw(sceneOf(viewport, drawn));
        expect(mistakes(drawn, frame)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test('is the same after others, panned or zoomed, even if paused', () => {
    const change = fc.record({
      by: fc.integer({ min: -9, max: 9 }),
      columns: fc.constantFrom(1, 0.5, 2, 3),
      rows: fc.constantFrom(1, 1, 2),
    });
    fc.assert(
      fc.property(
        allocatorProgram([]),
        randomView,
        fc.array(change, { minLength: 1, maxLength: 6 }),
        (lines, first, changes) => {
          const drawn = drawnOf(snapshotFromText(lines.join('\n')).snapshot);
          const painter = new AddressPainter(drawn.index);
          let view = first;
          painter.draw(sceneOf(view, drawn));
          for (const { by, columns, rows } of changes) {
            const columnWidth = (view.x1 - view.x0) / view.width;
            const x0 = view.x0 + by * columnWidth;
            const x1 = x0 + columns * columnWidth * view.width;
            view = { ...view, x0, x1, y1: view.y0 + (view.y1 - view.y0) * rows };
            painter.begin(sceneOf(view, drawn)).next();
            const frame = painter.draw(sceneOf(view, drawn));
            expect(frame).toEqual(new AddressPainter(drawn.index).draw(sceneOf(view, drawn)));
            expect(mistakes(drawn, frame)).toEqual([]);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([
    'oom_fragmented.pickle.gz',
    'streams_record_stream.pickle.gz',
    'cuda_graph_pool.pickle.gz',
    'train_recorded_late.pickle.gz',
    'whatif_expandable/oom_fragmented.pickle.gz',
  ])('%s equals the plain drawing', (name) => {
    const drawn = drawnOf(loadCapture(name));
    const { index, eventCount } = drawn;
    const rowBytes = 2 ** Math.ceil(Math.log2(index.layout.totalBytes / 60));
    const whole: Viewport = {
      axis: 'event',
      x0: 0,
      x1: eventCount,
      y0: 0,
      y1: 64 * rowBytes,
      width: 24,
      height: 64,
    };
    const painter = new AddressPainter(index);
    for (const view of [whole, { ...whole, x1: 24 * 8, y1: 8 * rowBytes }]) {
      expect(mistakes(drawn, painter.draw(sceneOf(view, drawn)))).toEqual([]);
    }
  });

  test('equal steps, and one that differs slightly, are drawn correctly', () => {
    const steps = Array.from({ length: 12 }, (_, step) => [
      `+A${step} 4Mi`,
      `+B${step} ${step === 7 ? 3 : 2}Mi`,
      `-A${step}`,
      `-B${step}`,
    ]);
    const drawn = drawnOf(snapshotFromText(steps.flat().join('\n')).snapshot);
    const { eventCount, index } = drawn;
    const view = { axis: 'event', x0: 0, x1: eventCount, y0: 0, width: 40, height: 40 } as const;
    const frame = new AddressPainter(index).draw(sceneOf({ ...view, y1: 40 * 2 ** 19 }, drawn));
    expect(mistakes(drawn, frame)).toEqual([]);
  });

  test('outlines what is requested, where and when it exists', () => {
    const drawn = drawnOf(snapshotFromText('+A 4Mi\n+B 4Mi\n-A\n+C 1Mi').snapshot);
    const { allocations } = drawn.replay;
    const viewport: Viewport = {
      axis: 'event',
      x0: 0,
      x1: drawn.eventCount,
      y0: 0,
      y1: drawn.index.layout.totalBytes,
      width: drawn.eventCount,
      height: 40,
    };
    const plain = new AddressPainter(drawn.index).draw(sceneOf(viewport, drawn));
    const highlight = {
      offset: drawn.index.layout.allocationOffset[0],
      bytes: allocations.sizeBytes[0],
      from: allocations.start[0],
      to: allocations.end[0],
    };
    const marked = new AddressPainter(drawn.index).draw({
      ...sceneOf(viewport, drawn),
      highlights: [highlight],
    });
    const { width } = viewport;
    for (let column = 0; column < width; column++) {
      const differs = plain.pixels.some(
        (pixel, at) => at % width === column && pixel !== marked.pixels[at],
      );
      expect(differs).toBe(column >= highlight.from && column < highlight.to);
    }
  });
});
