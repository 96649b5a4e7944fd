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
    'train.py:5 · step in adam.py:178',
    'train.py:5 · step in adam.py:182',
    'train.py:69 · to in module.py:7 · by way of module.py:934',
    'train.py:69 · to in module.py:7 · by way of module.py:1384',
    'loop.py:1 (f) · called from loop.py:2 ← main.py:3',
    'loop.py:1 (f) · called from loop.py:2 ← loop.py:4',
    'MmBackward0 (backward pass)',
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
    'train.py:5 · adam.py:178',
    'train.py:5 · adam.py:182',
    'train.py:69 · by way of module.py:934',
    'train.py:69 · by way of module.py:1384',
    'loop.py:1 · called from main.py:3',
    'loop.py:1 · called from :4',
    'MmBackward0',
    '12 other call sites',
  ]);
});
