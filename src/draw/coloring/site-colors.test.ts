import { describe, expect, test } from 'vitest';
import { waitsFrom } from '../../device/model/waits.ts';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import { makeColoring } from './colorings.ts';
import { type LegendEntry, legendAt } from './legend.ts';
import {
  colorOfClass,
  FIRST_STACK_CLASS,
  namedSites,
  readSiteColors,
  STACK_CLASSES,
  siteColorReader,
  siteColorsInView,
} from './site-colors.ts';

const COLORS = 12;
const colorsOf = (text: string) => [...readSiteColors(text).values()];

describe('colors of the sites in view', () => {
  const [a, b, c] = [FIRST_STACK_CLASS, FIRST_STACK_CLASS + COLORS, FIRST_STACK_CLASS + 1];

  test('are those of their classes if these differ', () => {
    expect(readSiteColors(siteColorsInView([a, c], '', COLORS))).toEqual(
      new Map([
        [a, 0],
        [c, 1],
      ]),
    );
  });

  test('differ if the classes share one, and the heavier keeps its own', () => {
    expect(colorOfClass(a, COLORS)).toBe(colorOfClass(b, COLORS));
    const given = readSiteColors(siteColorsInView([b, a, c], '', COLORS));
    expect(given.get(b)).toBe(0);
    expect(new Set(given.values()).size).toBe(3);
  });

  test('are kept by what stays, even when something heavier comes', () => {
    const before = siteColorsInView([a, c], '', COLORS);
    const after = readSiteColors(siteColorsInView([b, a, c], before, COLORS));
    expect([after.get(a), after.get(c)]).toEqual([0, 1]);
    expect(after.get(b)).not.toBe(0);
    expect(new Set(after.values()).size).toBe(3);
  });

  test('that are named belong to no other site', () => {
    const given = siteColorsInView([b, c], '', COLORS);
    const colorOf = siteColorReader(given, COLORS);
    expect([colorOf(b), colorOf(c)]).toEqual([0, 1]);
    const others = Array.from({ length: STACK_CLASSES }, (_, at) => FIRST_STACK_CLASS + at);
    const unnamed = others.filter((one) => one !== b && one !== c).map(colorOf);
    expect(new Set(unnamed)).toEqual(new Set([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
  });

  test('do not change when a site gets its name', () => {
    const before = siteColorsInView([b, c], '', COLORS);
    const color = siteColorReader(before, COLORS)(a);
    expect(color).not.toBe(0);
    const after = siteColorsInView([a, b, c], before, COLORS);
    expect(siteColorReader(after, COLORS)(a)).toBe(color);
  });

  test('stay with a site, except beside an older site of the same color', () => {
    const first = siteColorsInView([a], '', COLORS);
    const second = siteColorsInView([c], first, COLORS);
    const third = siteColorsInView([b], second, COLORS);
    expect([...colorsOf(first), ...colorsOf(third)]).toEqual([0, 0]);
    const both = siteColorsInView([b, a], third, COLORS);
    expect(readSiteColors(both).get(a)).toBe(0);
    expect(readSiteColors(both).get(b)).not.toBe(0);
    const searched = siteColorsInView([b, c], both, COLORS);
    expect(readSiteColors(searched).get(b)).toBe(0);
    expect(readSiteColors(siteColorsInView([b, a], searched, COLORS))).toEqual(
      readSiteColors(both),
    );
  });

  test('stay the same when nothing changes', () => {
    const before = siteColorsInView([b, a, c], '', COLORS);
    expect(siteColorsInView([b, a, c], before, COLORS)).toBe(before);
  });
});

/** The legends of a capture at four events, each with the colors that follow from those before. */
function* legendsOf(name: string) {
  for (const context of contextsOf(loadCapture(name))) {
    const { length, timeUs } = context.trace.events;
    const index = new TimelineIndex(context.replay, length, timeUs);
    const coloring = makeColoring(context, 'stack', STACK_CLASSES);
    const peak = context.replay.peaks.activeBytes.event;
    let siteColors = '';
    for (const event of [Math.floor(length / 10), peak, Math.floor(length / 2), length - 1]) {
      const legend = legendAt(context, index, 'stack', coloring, event);
      const named = namedSites(legend);
      siteColors = siteColorsInView(named, siteColors, COLORS);
      yield { context, coloring, event, legend, named, siteColors };
    }
  }
}

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s: no two entries of a legend have one label, no two call sites one color',
  (name) => {
    for (const { legend, named, siteColors } of legendsOf(name)) {
      const labels = legend.entries.map(({ label }) => label);
      expect([...new Set(labels)]).toEqual(labels);
      expect(new Set(colorsOf(siteColors)).size).toBe(named.length);
      expect(colorsOf(siteColors).every((color) => color >= 0 && color < COLORS)).toBe(true);
    }
  },
);

test('the sites of the first legend have their colors again wherever the cursor was', () => {
  const legends = [...legendsOf('train_gpt_small.pickle.gz')];
  const [{ named, siteColors: first }] = legends;
  const { siteColors: last } = legends.at(-1) ?? legends[0];
  expect(legends.some((one) => one.named.join() !== named.join())).toBe(true);
  expect(readSiteColors(siteColorsInView(named, last, COLORS))).toEqual(readSiteColors(first));
});

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s: what is drawn in a color is as large as the entry of that color',
  (name) => {
    for (const { context, coloring, event, legend, named, siteColors } of legendsOf(name)) {
      const colorOf = siteColorReader(siteColors, COLORS);
      const isNamed = new Set(named.map(colorOf));
      const colorText = (swatch: LegendEntry['swatch']) => {
        if (typeof swatch === 'string') return swatch;
        if (swatch < FIRST_STACK_CLASS) return `absence ${swatch}`;
        return isNamed.has(colorOf(swatch)) ? `color ${colorOf(swatch)}` : 'several';
      };
      const drawn = new Map<string, number>();
      const { length: ids, start, end, freeRequested, sizeBytes } = context.replay.allocations;
      for (let id = 0; id < ids; id++) {
        if (start[id] > event || end[id] <= event) continue;
        const isPending = waitsFrom(freeRequested[id], end[id]) <= event;
        const color = colorText(isPending ? 'pending' : coloring.classOf[id]);
        drawn.set(color, (drawn.get(color) ?? 0) + sizeBytes[id]);
      }
      const listed = legend.entries.map(({ swatch, bytes }) => [colorText(swatch), bytes] as const);
      expect(drawn).toEqual(new Map(listed.filter(([, bytes]) => bytes > 0)));
    }
  },
);
