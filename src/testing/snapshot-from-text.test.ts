import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, type Snapshot } from '../format/snapshot/tables.ts';
import { snapshotFromText } from './snapshot-from-text.ts';

const actions = ({ devices }: Snapshot, device = 0): string[] =>
  Array.from(devices[device].events.action, (action) => ACTION_NAMES[action]);

describe('a drawn snapshot', () => {
  const drawn = snapshotFromText(`
    +seg 2Mi small @0x1000000
    +A 512 @train.py:10 forward < main.py:3 main
    -A
    +A 1Ki                    # the same place again
    oom 4Ki free=128`);
  const { events } = drawn.snapshot.devices[0];

  it('has the events of its lines', () => {
    expect(actions(drawn.snapshot)).toEqual([
      'segment_alloc',
      'alloc',
      'free_requested',
      'free_completed',
      'alloc',
      'oom',
    ]);
    expect([drawn.eventOf('+A'), drawn.eventOf('-A'), drawn.eventOf('+A', 1)]).toEqual([1, 2, 4]);
    expect(drawn.addressOf('A')).toBe(0x1000000);
    expect(events.oomDeviceFreeBytes.get(drawn.eventOf('oom'))).toBe(128);
  });

  it('has the stacks, innermost first', () => {
    const { stacks, frames, strings } = drawn.snapshot;
    const names: string[] = [];
    for (let row = events.stack[1]; row > 0; row = stacks.parent[row]) {
      const frame = stacks.frame[row];
      names.push(`${strings.get(frames.filename[frame])}:${frames.line[frame]}`);
    }
    expect(names).toEqual(['train.py:10', 'main.py:3']);
  });

  it('has the counters after each event', () => {
    expect(drawn.counters[0].map((counters) => counters.allocatedBytes)).toEqual([
      0, 0, 512, 0, 0, 1024, 1024,
    ]);
  });
});

it('draws the segment that the allocator would need', () => {
  const { snapshot, eventOf } = snapshotFromText('+A 3Mi\n+B 3Mi\n+C 12Mi');
  expect(actions(snapshot)).toEqual(['segment_alloc', 'alloc', 'alloc', 'alloc']);
  expect(eventOf('+A')).toBe(1);
  expect(Array.from(snapshot.devices[0].segments.totalBytes)).toEqual([20 * 2 ** 20]);
});

it('gives unused memory back', () => {
  const native = snapshotFromText('+A 512\n-A\nempty').snapshot;
  expect(actions(native).at(-1)).toBe('segment_free');
  expect(native.devices[0].segments.length).toBe(0);
  const expandable = snapshotFromText('set expandable_segments=true\n+A 30Mi\n+B 1Mi\n-A\nempty');
  expect(actions(expandable.snapshot).at(-1)).toBe('segment_unmap');
});

it('keeps what is above record or below dump in the segments only', () => {
  const { snapshot } = snapshotFromText('+A 512 @a.py:1 f\nrecord\n+B 512\ndump\n+C 512');
  expect(actions(snapshot)).toEqual(['alloc']);
  const { blocks } = snapshot.devices[0];
  expect(Array.from(blocks.state).filter((state) => state !== 0)).toHaveLength(3);
  expect(blocks.stack[0]).toBe(0);
});

it('has devices, streams, categories, settings and annotations', () => {
  const { snapshot } = snapshotFromText(`
    set max_split_size=20971520
    begin step
    +A 512 stream=7 category=gradient
    end step
    device 1
    +B 512`);
  expect(snapshot.devices.map((device) => device.device)).toEqual([0, 1]);
  const { events, streams } = snapshot.devices[0];
  expect(streams[events.stream[1]].handle).toBe(7n);
  expect(snapshot.strings.get(events.category?.[1] ?? -1)).toBe('gradient');
  expect(snapshot.settings.max_split_size).toBe(20971520);
  expect(Array.from(snapshot.annotations.isStart)).toEqual([1, 0]);
});

it('says which line is impossible', () => {
  expect(() => snapshotFromText('+A 512\n-B')).toThrow(/"-B".*B is not there/);
  expect(() => snapshotFromText('hello')).toThrow(/"hello"/);
});
