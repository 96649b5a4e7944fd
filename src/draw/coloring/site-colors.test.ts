import { describe, expect, test } from 'vitest';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import { makeColoring } from './colorings.ts';
import { legendAt } from './legend.ts';
import {
  colorOfClass,
  FIRST_STACK_CLASS,
  namedSites,
  readSiteColors,
  STACK_CLASSES,
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

  test('stay the same when nothing changes', () => {
    const before = siteColorsInView([b, a, c], '', COLORS);
    expect(siteColorsInView([b, a, c], before, COLORS)).toBe(before);
  });
});

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s: no two entries of a legend have one label, no two call sites one color',
  (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      const { length, timeUs } = context.trace.events;
      const index = new TimelineIndex(context.replay, length, timeUs);
      const coloring = makeColoring(context, 'stack', STACK_CLASSES);
      const peak = context.replay.peaks.activeBytes.event;
      let before = '';
      for (const event of [Math.floor(length / 10), peak, Math.floor(length / 2), length - 1]) {
        const legend = legendAt(context, index, 'stack', coloring, event);
        const labels = legend.entries.map(({ label }) => label);
        expect([...new Set(labels)]).toEqual(labels);
        const named = namedSites(legend);
        before = siteColorsInView(named, before, COLORS);
        expect(new Set(colorsOf(before)).size).toBe(named.length);
        expect(colorsOf(before).every((color) => color >= 0 && color < COLORS)).toBe(true);
      }
    }
  },
);
