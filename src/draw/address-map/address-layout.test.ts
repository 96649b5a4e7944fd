import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AllocationTable } from '../../allocator/replay/types.ts';
import { offsetOfAddress } from '../../testing/naive-addresses.ts';
import { addressLayout } from './address-layout.ts';
import type { SegmentLives } from './segment-lives.ts';

type Range = readonly [address: number, sizeBytes: number];

function tableOf(ranges: readonly Range[]): AllocationTable {
  const none = new Int32Array(ranges.length);
  const sizeBytes = Float64Array.from(ranges, ([, bytes]) => bytes);
  return {
    length: ranges.length,
    preexisting: 0,
    start: none,
    freeRequested: none,
    end: none,
    address: Float64Array.from(ranges, ([address]) => address),
    requestedBytes: sizeBytes,
    sizeBytes,
    stream: new Uint16Array(ranges.length),
    pool: new Uint16Array(ranges.length),
    isSmall: new Uint8Array(ranges.length),
    stack: none,
  };
}

const livesOf = (ranges: readonly Range[]): SegmentLives => {
  return { ...tableOf(ranges), isExpandable: new Uint8Array(ranges.length) };
};

describe('packed addresses', () => {
  test('join what overlaps or touches, and omit what was never reserved', () => {
    const segments = livesOf([
      [1000, 100],
      [5000, 100],
      [1100, 50],
      [5050, 200],
    ]);
    const allocations = tableOf([
      [1010, 20],
      [5240, 10],
    ]);
    expect(addressLayout(segments, allocations)).toEqual({
      slotAddress: Float64Array.of(1000, 5000),
      slotBytes: Float64Array.of(150, 250),
      slotOffset: Float64Array.of(0, 150),
      totalBytes: 400,
      segmentOffset: Float64Array.of(0, 150, 100, 200),
      allocationOffset: Float64Array.of(10, 390),
      strays: 0,
    });
  });

  test('have room for allocations that no segment holds', () => {
    const layout = addressLayout(
      livesOf([[1000, 100]]),
      tableOf([
        [1000, 100],
        [10, 5],
        [1090, 20],
        [9000, 5],
      ]),
    );
    expect(layout.strays).toBe(3);
    expect(layout.slotAddress).toEqual(Float64Array.of(10, 1000, 9000));
    expect(layout.slotBytes).toEqual(Float64Array.of(5, 110, 5));
    expect(layout.allocationOffset).toEqual(Float64Array.of(5, 0, 95, 115));
    const alone = addressLayout(livesOf([]), tableOf([[7, 3]]));
    expect(alone).toMatchObject({ totalBytes: 3, strays: 1 });
  });

  test('of nothing are empty', () => {
    expect(addressLayout(livesOf([]), tableOf([]))).toMatchObject({ totalBytes: 0, strays: 0 });
  });

  test('have a separate place for every byte that was ever reserved, in order', () => {
    const range = fc.tuple(fc.nat(300), fc.integer({ min: 1, max: 40 }));
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 12 }), (ranges) => {
        const layout = addressLayout(livesOf(ranges), tableOf([]));
        let offset = 0;
        for (let address = 0; address < 360; address++) {
          const isReserved = ranges.some(
            ([from, bytes]) => address >= from && address < from + bytes,
          );
          if (offsetOfAddress(layout, address) !== (isReserved ? offset : undefined)) {
            expect.fail(`byte ${address} is not at ${offset}`);
          }
          if (isReserved) offset++;
        }
        expect(layout.totalBytes).toBe(offset);
      }),
    );
  });
});
