import { expect, it } from 'vitest';
import { peakText } from './main-device.ts';

it('gives a peak as a lower bound unless the recording begins with the process', () => {
  expect(peakText(2 ** 30, 'complete')).toBe('1.00 GiB');
  expect(peakText(2 ** 30, 'truncated')).toBe('≥ 1.00 GiB');
  expect(peakText(2 ** 30, 'preexisting')).toBe('≥ 1.00 GiB');
});
