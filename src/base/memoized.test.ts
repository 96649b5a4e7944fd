import { expect, it, vi } from 'vitest';
import { getOrMake, memoized } from './memoized.ts';

it('asks once for each key, also where the answer is undefined', () => {
  const make = vi.fn((key: string) => (key === '' ? undefined : key.length));
  const lengthOf = memoized(make);
  expect(['abc', '', 'abc', ''].map(lengthOf)).toEqual([3, undefined, 3, undefined]);
  expect(make.mock.calls).toEqual([['abc'], ['']]);
});

it('makes the value of a key that has none', () => {
  const lists = new Map([['a', [1]]]);
  getOrMake(lists, 'a', () => []).push(2);
  getOrMake(lists, 'b', () => []).push(3);
  expect([...lists]).toEqual([
    ['a', [1, 2]],
    ['b', [3]],
  ]);
});
