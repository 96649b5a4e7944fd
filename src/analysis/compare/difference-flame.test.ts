import { expect, it } from 'vitest';
import { targetText, transformText } from '../../device/flame-graph/transform-text.ts';
import { captureSide } from '../../testing/sides.ts';
import { compareSides } from './compare.ts';
import { DifferenceFlame } from './difference-flame.ts';

const OPTIONS = { root: undefined, smallestShare: 0, transforms: '' } as const;

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

it('transforms the stacks of both sides: what is focused on and what is dropped add up', () => {
  const [a, b] = [captureSide('pairs/compare/base'), captureSide('pairs/compare/batch2')];
  const flame = new DifferenceFlame(a, b);
  const graphOf = (transforms: string) =>
    flame.graph({ ...OPTIONS, groupBy: 'function', transforms });
  const whole = graphOf('');
  // The widest boxes hold everything.
  const group = whole.groups.find((one) => one.kind === 'frame' && /forward/.test(one.label));
  const target = group?.kind === 'frame' ? group.targets[0] : undefined;
  if (target === undefined) throw new Error('No box has frames');
  const [kept, dropped, merged] = (['focus', 'drop', 'merge'] as const).map((kind) =>
    graphOf(transformText(kind, targetText(target))),
  );
  expect(kept.total.value).toBeGreaterThan(0);
  expect(kept.total.value + dropped.total.value).toBe(whole.total.value);
  expect(merged.total.value).toBe(whole.total.value);
  expect(kept.steps).toMatchObject([{ kind: 'focus', of: group }]);
});
