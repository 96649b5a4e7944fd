import { describe, expect, it } from 'vitest';
import { blockRules, roundSize, shouldSplit } from './rounding.ts';

const MI = 2 ** 20;
const GI = 2 ** 30;

describe('round_size', () => {
  const plain = blockRules({});

  it.each([
    [0, 512],
    [1, 512],
    [512, 512],
    [513, 1024],
    [MI + 1, MI + 512],
    [40 * GI + 1, 40 * GI + 512],
  ])('%i bytes make a block of %i', (bytes, block) => {
    expect(roundSize(bytes, plain)).toBe(block);
  });

  const eighths = blockRules({
    roundup_power2_divisions: Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [String(2 ** i), 8]),
    ),
  });

  it.each([
    // Up to 512 bytes times the divisions, rounding is the same.
    [4096, 4096],
    [4097, 4608],
    [MI, MI],
    [5 * MI + 1, 5.5 * MI],
    [8 * MI - 1, 8 * MI],
    [100 * GI, 104 * GI],
  ])('%i bytes make a block of %i with eight divisions', (bytes, block) => {
    expect(roundSize(bytes, eighths)).toBe(block);
  });

  it('has separate divisions for each power of two, the outermost for all beyond', () => {
    const mixed = blockRules({ roundup_power2_divisions: { '1': 4, '4': 2, '32768': 2 } });
    expect(roundSize(700_000, mixed)).toBe(768 * 1024);
    expect(roundSize(2.1 * MI, mixed)).toBe(Math.ceil((2.1 * MI) / 512) * 512);
    expect(roundSize(5 * MI, mixed)).toBe(6 * MI);
    expect(roundSize(130 * GI, mixed)).toBe(192 * GI);
  });
});

describe('should_split', () => {
  const rules = blockRules({ max_split_size: 20 * MI });

  it.each([
    ['small or expandable', 2048, 1536, true, true],
    ['small or expandable, without a rest', 2048, 2048, true, false],
    ['large, a rest of 1 MiB', 3 * MI, 2 * MI, false, false],
    ['large, more', 3 * MI + 512, 2 * MI, false, true],
    ['large, at max_split_size', 40 * MI, 20 * MI, false, false],
    ['a range that is too short', 1024, 2048, true, false],
  ] as const)('%s', (_, range, block, isSmallOrExpandable, splits) => {
    expect(shouldSplit(range, block, isSmallOrExpandable, rules)).toBe(splits);
  });

  it('has no limit if max_split_size is -1', () => {
    const unlimited = blockRules({ max_split_size: -1 });
    expect(shouldSplit(40 * MI, 20 * MI, false, unlimited)).toBe(true);
  });
});
