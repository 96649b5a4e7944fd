import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distinctPlaces } from './address-index.ts';

test('rows have the same place exactly if offset and size are the same', () => {
  const number = fc.oneof(fc.nat(40), fc.constantFrom(512, 2 ** 21, 2 ** 44, 2 ** 44 + 512));
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number), { maxLength: 60 }), (rows) => {
      const offsets = Float64Array.from(rows, ([offset]) => offset);
      const sizes = Float64Array.from(rows, ([, bytes]) => bytes);
      const { count, offset, bytes, placeOfRow } = distinctPlaces(offsets, sizes);
      expect(Array.from(placeOfRow, (place) => [offset[place], bytes[place]])).toEqual(rows);
      expect(count).toBe(new Set(rows.map((row) => row.join())).size);
    }),
  );
});

test('more places than initially allocated', () => {
  const offsets = Float64Array.from({ length: 10_000 }, (_, i) => (i % 5000) * 512);
  const { count, offset, placeOfRow } = distinctPlaces(offsets, new Float64Array(10_000).fill(512));
  expect(count).toBe(5000);
  expect(Float64Array.from(placeOfRow, (place) => offset[place])).toEqual(offsets);
});
