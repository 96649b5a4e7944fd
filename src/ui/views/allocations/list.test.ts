import { expect, test } from 'vitest';
import { LARGEST_FIRST, orderOf, SITES_AT_PEAK, sortedBy } from './list.ts';

test('the largest come first where nothing is said, or what nobody knows', () => {
  const largest = { of: 'allocations', key: 'size', isDescending: true };
  expect(orderOf(undefined)).toEqual(largest);
  expect(orderOf({ key: 'toString', descending: false })).toEqual(largest);
  expect(orderOf({ key: 'siteOther', descending: false })).toEqual(largest);
});

test('keys of sites list sites', () => {
  expect(orderOf(SITES_AT_PEAK)).toEqual({ of: 'sites', key: 'peak', isDescending: true });
  expect(orderOf({ key: 'site', descending: false })).toEqual({
    of: 'allocations',
    key: 'site',
    isDescending: false,
  });
});

test('a click sorts the way that is asked for first, the next one the other way', () => {
  const byStart = sortedBy('start', LARGEST_FIRST);
  expect(byStart).toEqual({ key: 'start', descending: false });
  expect(sortedBy('start', byStart)).toEqual({ key: 'start', descending: true });
  expect(sortedBy('siteTotal', SITES_AT_PEAK)).toEqual({ key: 'siteTotal', descending: true });
});
