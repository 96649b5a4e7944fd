import { expect, it } from 'vitest';
import { captureSide } from '../../testing/sides.ts';
import { compareSides } from './compare.ts';
import { DifferenceFlame } from './difference-flame.ts';

const OPTIONS = { root: undefined, smallestShare: 0 } as const;

it.each([['batch2'], ['moved']])(
  'the flame graph of %s is the difference without rounding',
  (name) => {
    const [a, b] = [captureSide('pairs/compare/base'), captureSide(`pairs/compare/${name}`)];
    const { differenceBytes, classes } = compareSides(a, b);
    const rounding = classes.find((one) => one.class === 'rounding');
    const rounded = (rounding?.bytesB ?? 0) - (rounding?.bytesA ?? 0);
    for (const groupBy of ['line', 'function', 'file', 'module'] as const) {
      const graph = new DifferenceFlame(a, b).graph({ ...OPTIONS, groupBy });
      expect(graph.total.value).toBe(differenceBytes - rounded);
      // Memory that moved to another line is still there.
      expect(graph.total.magnitude).toBe(graph.total.value);
    }
  },
);
