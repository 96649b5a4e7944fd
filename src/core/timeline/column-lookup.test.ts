import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ColumnLookup } from './column-lookup.ts';

test('gives the first column that shows an event, however the states are spread', () => {
  const steps = fc.array(fc.oneof(fc.nat(2), fc.nat(100_000)), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(steps, fc.integer({ min: -1, max: 50 }), fc.nat(5), (rises, start, skipped) => {
      let state = start;
      const states = Int32Array.from(rises, (rise) => {
        state += rise;
        return state;
      });
      const from = Math.min(skipped, states.length - 1);
      const lookup = new ColumnLookup(states, from, states.length);
      for (const event of [...states.slice(from), ...states.slice(from).map((one) => one + 1)]) {
        const expected = states.findIndex((one, column) => column >= from && one >= event);
        expect(lookup.of(event)).toBe(expected < 0 ? states.length : expected);
      }
      expect(lookup.of(2 ** 31 - 1)).toBe(states.length);
    }),
  );
});
