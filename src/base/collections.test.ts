import { expect, it, vi } from 'vitest';
import { addTo, addUp, getOrMake, groupBy, largestFirst, memoized, sumBy } from './collections.ts';

it('computes once for each key, even if the result is undefined', () => {
  const make = vi.fn((key: string) => (key === '' ? undefined : key.length));
  const lengthOf = memoized(make);
  expect(['abc', '', 'abc', ''].map(lengthOf)).toEqual([3, undefined, 3, undefined]);
  expect(make.mock.calls).toEqual([['abc'], ['']]);
});

it('makes a missing value', () => {
  const lists = new Map([['a', [1]]]);
  getOrMake(lists, 'a', () => []).push(2);
  getOrMake(lists, 'b', () => []).push(3);
  expect([...lists]).toEqual([
    ['a', [1, 2]],
    ['b', [3]],
  ]);
});

it('groups by key, keeping the order of keys and items', () => {
  const groups = groupBy([3, 1, 4, 1, 5], (number): string => (number % 2 === 1 ? 'odd' : 'even'));
  expect([...groups]).toEqual([
    ['odd', [3, 1, 1, 5]],
    ['even', [4]],
  ]);
  addTo(groups, 'even', 6);
  addTo(groups, 'none', 7);
  expect(groups.get('even')).toEqual([4, 6]);
  expect(groups.get('none')).toEqual([7]);
});

it('sums, also by key', () => {
  expect(sumBy([1, 2, 3], (number) => number * number)).toBe(14);
  const sums = new Map<string, number>();
  for (const [key, amount] of [
    ['a', 1],
    ['b', 5],
    ['c', 5],
    ['a', 2],
  ] as const)
    addUp(sums, key, amount);
  expect(largestFirst(sums)).toEqual([
    ['b', 5],
    ['c', 5],
    ['a', 3],
  ]);
});
