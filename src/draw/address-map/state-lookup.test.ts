import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StateLookup } from './address-sweep.ts';

test('gives the first state that shows an event, however they are spread', () => {
  const steps = fc.array(fc.oneof(fc.nat(2), fc.nat(100_000)), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(steps, fc.integer({ min: -1, max: 50 }), (rises, start) => {
      let state = start;
      const states = Int32Array.from(rises, (rise) => {
        state += rise;
        return state;
      });
      const lookup = new StateLookup(states);
      for (const event of [...states, ...states.map((one) => one + 1)]) {
        const expected = states.findIndex((one) => one >= event);
        expect(lookup.of(event)).toBe(expected < 0 ? states.length : expected);
      }
      expect(lookup.of(2 ** 31 - 1)).toBe(states.length);
    }),
  );
});
