import { expect, it } from 'vitest';
import { shortLabels } from './short-labels.ts';

it('keeps of a call site what tells it from the others', () => {
  const labels = [
    'net.py:3 · conv2d · called from train.py:9',
    'model.py:84 · conv2d',
    'model.py:84 · relu',
    'block.py:7 (forward) · called from a.py:1',
    'block.py:7 (forward) · called from b.py:2',
    '12 other call sites',
  ];
  expect(shortLabels(labels)).toEqual([
    'net.py:3',
    'model.py:84 · conv2d',
    'model.py:84 · relu',
    'block.py:7 · called from a.py:1',
    'block.py:7 · called from b.py:2',
    '12 other call sites',
  ]);
});
