import { describe, expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { allocationLabel, findAllocation } from './allocation-labels.ts';

describe('labels of a capture', () => {
  const [{ snapshot, replay }] = contextsOf(loadCapture('train_ring_truncated.pickle.gz'));
  const { allocations } = replay;
  const { addresses } = snapshot;

  test('count the earlier allocations at the address, and lead back', () => {
    const seen = new Map<number, number>();
    for (let id = 0; id < allocations.length; id++) {
      const address = allocations.address[id];
      const earlier = seen.get(address) ?? 0;
      seen.set(address, earlier + 1);
      const label = allocationLabel(allocations, addresses, id);
      expect(label).toBe(`b${address.toString(16)}_${earlier}`);
      expect(findAllocation(allocations, addresses, label)).toBe(id);
    }
    expect(Math.max(...seen.values())).toBeGreaterThan(1);
  });

  test.each([
    '',
    'b_0',
    'b7f_',
    'x7f064c000000_0',
    'b12345_0',
    'bffffffffffffffff_0',
    'b1_99',
    '__proto__',
  ])('no allocation is called %s', (label) => {
    const regions = addresses.regions.length;
    expect(findAllocation(allocations, addresses, label)).toBeUndefined();
    expect(addresses.regions.length).toBe(regions);
  });
});

test('addresses above 2^53 keep every digit', () => {
  const addr = 0xff00_0000_0000_0200n;
  const { snapshot, replay } = contextOf(traceOf({ action: 'alloc', addr, size: 1 }));
  const label = allocationLabel(replay.allocations, snapshot.addresses, 0);
  expect(label).toBe('bff00000000000200_0');
  expect(findAllocation(replay.allocations, snapshot.addresses, label)).toBe(0);
});
