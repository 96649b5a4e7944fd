import { describe, expect, test } from 'vitest';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { contextOf } from '../../testing/contexts.ts';
import { snapshotFromValue } from './from-value.ts';

const block = (more: object = {}) => ({
  address: 4096,
  size: 512,
  requested_size: 500,
  state: 'active_allocated',
  frames: [],
  ...more,
});
const segment = (more: object = {}) => ({
  device: 0,
  address: 4096,
  total_size: 2 ** 21,
  allocated_size: 512,
  active_size: 512,
  requested_size: 500,
  stream: 0,
  segment_type: 'small',
  blocks: [block()],
  ...more,
});
const snapshotOf = (...segments: object[]) =>
  snapshotFromValue({ segments, device_traces: [[]], external_annotations: [] });
const warningsOf = (value: unknown) =>
  snapshotFromValue(value)
    .warnings.filter(({ code }) => code === 'contradiction' || code === 'bad-value')
    .map(({ message }) => message);

describe('counts states that no allocator has', () => {
  test('a block outside its segment, or larger than it', () => {
    const outside = segment({ blocks: [block({ address: 2 ** 40 }), block({ size: 2 ** 30 })] });
    const { warnings } = snapshotOf(outside);
    expect(warnings.map(({ message }) => message)).toContain(
      '2 blocks lie outside their segment; they are shown as written.',
    );
  });

  test('a block smaller than its request: its size is used', () => {
    const { devices, warnings } = snapshotOf(
      segment({ blocks: [block({ requested_size: 35e12 })] }),
    );
    expect(warnings.map(({ message }) => message).join()).toContain(
      '1 blocks are smaller than what was requested; their own size is used.',
    );
    expect([...(devices[0]?.blocks.requestedBytes ?? [])]).toEqual([512]);
  });

  test('a segment three times counts once', () => {
    const { devices, warnings } = snapshotOf(segment(), segment(), segment());
    expect(warnings.map(({ message }) => message).join()).toContain(
      '2 segments overlap another one; they are ignored.',
    );
    expect(devices[0]?.segments.length).toBe(1);
  });

  test.each([
    ['blocks that overlap', [segment({ blocks: [block(), block()] })], /1 blocks overlap another/],
    ['a segment fuller than it is', [segment({ active_size: 2 ** 30 })], /1 segments have more/],
    ['a segment without address', [segment({ address: undefined })], /1 value of 'addr/],
  ])('%s', (_, segments, expected) => {
    expect(warningsOf({ segments, device_traces: [[]] }).join()).toMatch(expected);
  });

  test('a segment that lacks its address', () => {
    const { address: _, ...rest } = segment();
    expect(warningsOf({ segments: [rest], device_traces: [[]] }).join()).toMatch(
      /1 value of 'address'/,
    );
  });

  test.each([[5], [[5, 'a']], [[{ unknown: 1 }]]])('invalid annotations: %j', (value) => {
    expect(
      warningsOf({ segments: [], device_traces: [[]], external_annotations: value }).join(),
    ).toMatch(/values? of 'external_annotations'/);
  });

  test('sums above 2^53', () => {
    const common = { size: 2 ** 52, stream: 0, frames: [] };
    const events = [1, 2, 3].map((i) => ({ action: 'segment_alloc', addr: i * 512, ...common }));
    const { replay } = contextOf({ segments: [], device_traces: [events] });
    expect(replay.anomalies.map(({ message }) => message)).toContain(
      'sizes add up to more than 2^53: sums are not exact',
    );
  });
});

test.each(captureNames())('%s does not contradict itself', (name) => {
  const codes = loadCapture(name).warnings.map(({ code }) => code);
  expect(codes).not.toContain('contradiction');
});
