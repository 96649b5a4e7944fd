import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canLinkSteps, fromCommon, toCommon } from './linked-axis.ts';

const RUN = { events: 100, stepBounds: Int32Array.of(9, 29, 49, 89) };

it('by step, the same step of a longer run is at the same place', () => {
  const longer = { events: 1000, stepBounds: Int32Array.of(99, 299, 499, 899) };
  for (const event of [0, 10, 20, 30, 50, 70, 90, 100]) {
    const there = fromCommon('step', longer, toCommon('step', RUN, event));
    expect(there).toBeCloseTo(10 * event);
  }
  expect(toCommon('step', RUN, 10)).toBe(0);
  expect(toCommon('step', RUN, 40)).toBe(1.5);
});

it('converts there and back, even outside of the run', () => {
  const link = fc.constantFrom('step' as const, 'share' as const);
  fc.assert(
    fc.property(link, fc.double({ min: -50, max: 200, noNaN: true }), (by, event) => {
      expect(fromCommon(by, RUN, toCommon(by, RUN, event))).toBeCloseTo(event, 6);
    }),
  );
});

it('needs steps on both sides', () => {
  expect(canLinkSteps(RUN, RUN)).toBe(true);
  expect(canLinkSteps(RUN, { events: 5, stepBounds: new Int32Array(0) })).toBe(false);
});
