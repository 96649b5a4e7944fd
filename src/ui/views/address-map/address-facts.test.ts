import { describe, expect, test } from 'vitest';
import type { AddressSlot } from '../../../draw/address-map/address-layout.ts';
import { deviceInfo } from '../../../testing/device-info.ts';
import { kindsOf, missingText, oomText } from './address-facts.tsx';
import { addressContent, addressText } from './address-source.ts';

const MI = 2 ** 20;
const SLOTS: AddressSlot[] = [
  { address: 0x7f0000000000n, sizeBytes: 20 * MI, offset: 0, segments: 3, kind: 'large' },
  { address: 0xff00000000000000n, sizeBytes: 2 * MI, offset: 20 * MI, segments: 1, kind: 'small' },
  { address: 0xff00000010000000n, sizeBytes: 2 * MI, offset: 22 * MI, segments: 1, kind: 'small' },
];

describe('places in the packed order', () => {
  test('are addresses, exact above 2^53 too', () => {
    expect(addressText(SLOTS, 512)).toBe('0x7f0000000200');
    expect(addressText(SLOTS, 20 * MI + 0.5)).toBe('0xff00000000000000');
    expect(addressText(SLOTS, 24 * MI - 512)).toBe('0xff000000101ffe00');
  });

  test('end where the slots do', () => {
    expect(addressText(SLOTS, 20 * MI - 1)).toBe('0x7f00013fffff');
    expect(addressText(SLOTS, 20 * MI)).toBe('0xff00000000000000');
    expect(addressText(SLOTS, 24 * MI)).toBe('');
    expect(addressText(SLOTS, -1)).toBe('');
    expect(addressText([], 0)).toBe('');
  });

  test('add up by pool, the largest first', () => {
    expect(kindsOf(SLOTS)).toEqual([
      { kind: 'large', ranges: 1, segments: 3, sizeBytes: 20 * MI },
      { kind: 'small', ranges: 2, segments: 2, sizeBytes: 4 * MI },
    ]);
  });
});

describe('words', () => {
  test('a gap has its size and its address', () => {
    const hit = {
      block: undefined,
      gap: { from: 4 * MI, to: 8 * MI },
      freeBytes: 512,
      segment: undefined,
      segments: 0,
    };
    expect(addressContent(hit, SLOTS)).toEqual({
      title: '4.00 MiB free',
      label: '0x7f0000400000',
      lines: ['reserved, with no block in it'],
    });
    expect(addressContent({ ...hit, gap: undefined }, SLOTS).title).toBe('Not reserved');
  });

  test('compares an OOM with all free memory and with the largest range', () => {
    const oom = {
      event: 1,
      timeUs: 0,
      requestedBytes: 8 * MI,
      deviceFreeBytes: 0,
      wasRetried: false,
    };
    const text = (freeBytes: number, largestBytes: number) =>
      oomText(oom, { freeBytes, largestBytes, ranges: 2 });
    expect(text(6 * MI, 4 * MI)).toBe('OOM: 8.00 MiB requested, more than the total');
    expect(text(12 * MI, 7 * MI)).toBe('OOM: 8.00 MiB requested, larger than any range');
    expect(text(12 * MI, 8 * MI)).toContain('another pool or stream');
  });

  test('says what the file lacks, and only then', () => {
    const slots = { slots: SLOTS, totalBytes: 24 * MI, segments: 5, strays: 0 };
    const device = deviceInfo({ actions: { alloc: 3, segment_map: 1 } });
    expect(missingText(device, slots)).toBeUndefined();
    expect(missingText(deviceInfo({ actions: { alloc: 3 } }), slots)).toMatch(
      /^This trace has no segment events/,
    );
    expect(missingText(device, { ...slots, segments: 0 })).toMatch(/lists no segments/);
  });
});
