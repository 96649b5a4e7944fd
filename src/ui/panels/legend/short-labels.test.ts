import { expect, it } from 'vitest';
import { shortLabels } from './short-labels.ts';

it('keeps of a call site what tells it from the others', () => {
  const labels = [
    'net.py:3 · conv2d in conv.py:5 · called from train.py:9',
    'model.py:84 · conv2d in conv.py:5',
    'model.py:84 · relu in nn.py:5',
    'block.py:7 (forward) · called from a.py:1',
    'block.py:7 (forward) · called from b.py:2',
    'net.py:9 · mul in f.py:1 · called from a.py:1',
    'net.py:9 · mul in f.py:1 · called from a.py:2',
    'net.py:9 · add in f.py:1 · called from a.py:1',
    'MulBackward0 (backward pass)',
    '12 other call sites',
  ];
  expect(shortLabels(labels)).toEqual([
    'net.py:3',
    'model.py:84 · conv2d',
    'model.py:84 · relu',
    'block.py:7 · called from a.py:1',
    'block.py:7 · called from b.py:2',
    'net.py:9 · mul · called from a.py:1',
    'net.py:9 · called from a.py:2',
    'net.py:9 · add',
    'MulBackward0',
    '12 other call sites',
  ]);
});
