import { describe, expect, test } from 'vitest';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { matchAllocations } from '../../device/search/match-search.ts';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import { COLORINGS, type ColorBy } from '../timeline/types.ts';
import { makeColoring, unavailableReason } from './colorings.ts';
import type { Coloring } from './first-colorings.ts';
import { type Legend, legendAt, legendEvent } from './legend.ts';

const COUNTS: Readonly<Partial<Record<ColorBy, number>>> = { stack: 15, size: 9 };
const coloringOf = (context: DeviceModel, colorBy: ColorBy): Coloring =>
  makeColoring(context, colorBy, COUNTS[colorBy] ?? 14);

const contextOfText = (text: string) => contextsOf(snapshotFromText(text).snapshot)[0];

function indexOf({ replay, trace }: DeviceModel) {
  return new TimelineIndex(replay, trace.events.length, trace.events.timeUs);
}

function legendOf(context: DeviceModel, colorBy: ColorBy, event: number): Legend {
  return legendAt(context, indexOf(context), colorBy, coloringOf(context, colorBy), event);
}

/** The class names of the allocations, in order. */
function words(context: DeviceModel, colorBy: ColorBy): string[] {
  const { classOf, classes } = coloringOf(context, colorBy);
  return [...classOf].map(
    (at) => classes.find(({ class: found }) => found === at)?.label ?? `${at}`,
  );
}

describe.each([
  'train_annotated.pickle.gz',
  'streams_record_stream.pickle.gz',
  'cuda_graph_pool.pickle.gz',
  'compile_train.pickle.gz',
  'train_recorded_late.pickle.gz',
])('%s', (name) => {
  const [context] = contextsOf(loadCapture(name));
  const { allocations } = context.replay;

  test.each(COLORINGS)('by %s: a legend adds up to active memory, at any event', (colorBy) => {
    const last = context.trace.events.length - 1;
    for (const event of [
      -1,
      0,
      Math.floor(last / 2),
      context.replay.peaks.activeBytes.event,
      last,
    ]) {
      const { totalBytes, entries } = legendOf(context, colorBy, event);
      expect(totalBytes).toBe(context.replay.countersAt(event).activeBytes);
      const named = entries.map(({ label, term }) => `${label} ${term}`);
      expect(new Set(named).size).toBe(entries.length);
    }
  });

  // The innermost phase decides the color, while the search finds all that enclose it.
  test.each(COLORINGS.filter((by) => by !== 'stack' && by !== 'phase'))(
    'by %s: the search for a class finds exactly its allocations',
    (colorBy) => {
      const { classOf, classes } = coloringOf(context, colorBy);
      for (const { class: at, term } of classes) {
        if (term === undefined) continue;
        const { mask, problem } = matchAllocations(context, term, undefined);
        expect(problem).toBeUndefined();
        const expected = Array.from(classOf, (found) => (found === at ? 1 : 0));
        expect([...(mask ?? [])], term).toEqual(expected);
      }
    },
  );

  test("by phase: everything in a phase's color was allocated inside it", () => {
    const { classOf, classes } = coloringOf(context, 'phase');
    for (const { class: at, term } of classes) {
      if (term === undefined) continue;
      const { mask } = matchAllocations(context, term, undefined);
      for (let id = 0; id < allocations.length; id++) {
        if (classOf[id] === at) expect(mask?.[id]).toBe(1);
      }
    }
  });
});

test('streams, private pools and phases have their names', () => {
  const context = contextOfText(`
    begin step
    +A 512 stream=7 @a.py:1 f
    begin forward
    +B 3Mi @a.py:2 g
    end forward
    snapshot
    +C 3Mi pool=1,0 @a.py:3 h
    end step
    snapshot
    +D 512 @a.py:4 k
  `);
  expect(words(context, 'stream')[0]).toBe('stream 0x7');
  expect(words(context, 'stream')[1]).toBe('default stream');
  expect(words(context, 'phase')).toEqual(['step', 'forward', 'step', 'outside all annotations']);
  expect(words(context, 'size')).toEqual([
    'below 4 KiB',
    'from 2 MiB',
    'from 2 MiB',
    'below 4 KiB',
  ]);
  expect(words(context, 'site')[1]).toBe('a.py:2 (g)');
});

test('the rest shares one color, and says how many it stands for', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `+A${i} ${(i + 1) * 4096} @a.py:${i + 1} f`);
  const context = contextOfText(lines.join('\n'));
  const { entries } = legendOf(context, 'site', 10 ** 6);
  expect(entries[0]).toMatchObject({ label: 'a.py:30 (f)', bytes: 30 * 4096, count: 1 });
  expect(entries.find(({ label }) => label === '18 other sites')?.count).toBe(18);
});

test('a coloring that distinguishes nothing says why', () => {
  const context = contextOfText('+A 512 @a.py:1 f');
  const reasons = COLORINGS.map((colorBy) => [colorBy, unavailableReason(context, colorBy)]);
  expect(Object.fromEntries(reasons)).toEqual({
    stack: undefined,
    site: undefined,
    size: undefined,
    pool: undefined,
    stream: 'one stream only',
    phase: 'no annotations recorded',
    category: 'none recorded',
    compile: 'nothing was compiled',
  });
});

test('the peak in a window covers only its events', () => {
  const context = contextOfText('+A 4Mi @a.py:1 f\n-A\n+B 2Mi @a.py:2 f\n-B\nsnapshot');
  const index = indexOf(context);
  const { peaks } = context.replay;
  const peakIn = (from: number, to: number) =>
    legendEvent(context, index, { at: undefined, axis: 'event', x: { from, to } });
  expect(peakIn(0, 100)).toBe(peaks.activeBytes.event);
  const later = peakIn(peaks.activeBytes.event + 3, 100);
  expect(context.replay.countersAt(later).activeBytes).toBe(2 * 2 ** 20);
  expect(peakIn(100, 200)).toBe(-1);
});

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s can be colored every way',
  (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      for (const colorBy of COLORINGS) {
        const { classOf, classes } = coloringOf(context, colorBy);
        expect(classOf.length).toBe(context.replay.allocations.length);
        if (colorBy === 'stack') continue;
        const known = new Set(classes.map(({ class: at }) => at));
        expect(classOf.every((at) => known.has(at))).toBe(true);
      }
    }
  },
);
