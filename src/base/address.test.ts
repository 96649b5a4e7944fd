import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AddressMap } from './address.ts';

/** Few distinct addresses, so that operations collide; the last ones are neither aligned nor below 2^52. */
const address = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((n) => 0x7f0000000000 + n * 512),
  fc.integer({ min: 0, max: 3000 }).map((n) => n * 2 ** 21),
  fc.constantFrom(0, 64, 65, 2 ** 52 + 512, 2 ** 53 - 1),
);
const step = fc.record({
  address,
  row: fc.nat(1000),
  kind: fc.constantFrom('set', 'delete', 'get'),
});

it('behaves like a Map, also while it grows and shrinks', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4000, size: 'max' }), (steps) => {
      const map = new AddressMap();
      const expected = new Map<number, number>();
      for (const [at, { address: key, row, kind }] of steps.entries()) {
        const before = expected.get(key) ?? -1;
        let answer = before;
        if (kind === 'get') answer = map.get(key);
        else if (kind === 'set') {
          answer = map.set(key, row);
          expected.set(key, row);
        } else {
          map.delete(key);
          expected.delete(key);
        }
        // Runs a hundred thousand times: `expect` would take most of the time.
        if (answer !== before || map.size !== expected.size)
          expect([at, answer, map.size]).toEqual([at, before, expected.size]);
      }
      for (const [key, row] of expected) expect(map.get(key)).toBe(row);
      const ascending = (a: number, b: number) => a - b;
      expect(map.rows().sort(ascending)).toEqual([...expected.values()].sort(ascending));
    }),
    { numRuns: 30 },
  );
});
