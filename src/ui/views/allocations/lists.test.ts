import { expect, test } from 'vitest';
import { deviceInfo } from '../../../testing/device-info.ts';
import { ALLOCATIONS, LARGEST_FIRST, orderOf, SITES, SITES_AT_PEAK, sortedBy } from './lists.ts';

test('the largest come first by default, and for an unknown order', () => {
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

test('a click sorts in the column’s first direction, the next one the other way', () => {
  const known = undefined;
  const allocations = ALLOCATIONS.columns(deviceInfo(), 'event', known);
  const byStart = sortedBy(allocations, 'start', LARGEST_FIRST);
  expect(byStart).toEqual({ key: 'start', descending: false });
  expect(sortedBy(allocations, 'start', byStart)).toEqual({ key: 'start', descending: true });
  expect(sortedBy(allocations, 'waste', byStart)).toEqual({ key: 'waste', descending: true });
  expect(sortedBy(allocations, 'class', byStart)).toEqual({ key: 'class', descending: false });
  const sites = SITES.columns(deviceInfo(), 'event', known);
  expect(sortedBy(sites, 'siteTotal', SITES_AT_PEAK)).toEqual({
    key: 'siteTotal',
    descending: true,
  });
  expect(sortedBy(sites, 'siteFirst', SITES_AT_PEAK)).toEqual({
    key: 'siteFirst',
    descending: false,
  });
});
