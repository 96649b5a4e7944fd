import { expect, it } from 'vitest';
import { moreText } from './types.ts';

const RATE = { bytes: 2 ** 20, unit: 'iteration in test', isMean: false, varies: false };

it.each([
  [{ ...RATE, steps: 1 }, '1.00 MiB more in one iteration in test'],
  [{ ...RATE, steps: 2, unit: 'batch' }, '1.00 MiB more in each of 2 batches'],
  [{ ...RATE, steps: 2 }, '1.00 MiB more in each of 2 iterations in test'],
  [{ ...RATE, steps: 3 }, '1.00 MiB more each iteration in test'],
  [{ ...RATE, steps: 3, isMean: true }, 'on average 1.00 MiB more each iteration in test'],
])('calls it a rate only from three repetitions on', (rate, text) => {
  expect(moreText(rate)).toBe(text);
});
