/** Each allocator rule, and each way a trace can be incomplete, in a few drawn lines. */
import { describe, expect, it } from 'vitest';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import type { DeviceTrace } from '../../format/snapshot/tables.ts';
import { type DrawnSnapshot, snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { replayDevice } from './replay.ts';
import { BEFORE_TRACE, NEVER, type Replay } from './types.ts';

const MI = 2 ** 20;

interface Drawn extends DrawnSnapshot {
  readonly trace: DeviceTrace;
  readonly replay: Replay;
}

function replayText(text: string): Drawn {
  const drawn = snapshotFromText(text);
  const [trace] = drawn.snapshot.devices;
  return { ...drawn, trace, replay: replayDevice(trace, drawn.snapshot.settings) };
}

/** Replays bare trace entries. */
function replayEntries(entries: readonly object[], segments: readonly object[] = []): Replay {
  const { devices, settings } = snapshotFromValue({ segments, device_traces: [entries] });
  return replayDevice(devices[0], settings);
}

const sizes = ({ replay }: Drawn): number[] => Array.from(replay.allocations.sizeBytes);

describe('the size of a block', () => {
  it('is the request in steps of 512 bytes in the small pool', () => {
    const drawn = replayText(`
      +A 1
      +B 513`);
    expect(sizes(drawn)).toEqual([512, 1024]);
    expect(Array.from(drawn.replay.allocations.isSmall)).toEqual([1, 1]);
  });

  it('includes a remainder of up to 1 MiB in the large pool', () => {
    const drawn = replayText(`
      +seg 20Mi large @0x1000000
      +A 19Mi
      -A
      +B 18Mi`);
    expect(sizes(drawn)).toEqual([20 * MI, 18 * MI]);
    expect(drawn.replay.end.inactiveSplitBytes).toBe(2 * MI);
  });

  it('is the whole range at max_split_size and above', () => {
    const drawn = replayText(`
      set max_split_size=20971520
      +seg 30Mi large @0x1000000
      +A 20Mi`);
    expect(sizes(drawn)).toEqual([30 * MI]);
  });

  it('never includes a remainder of 512 bytes or more in expandable memory', () => {
    const drawn = replayText(`
      +map 20Mi large @0x1000000
      +A 20971008
      +map 20Mi large @0x2400000
      +B 20Mi`);
    expect(sizes(drawn)).toEqual([20 * MI - 512, 20 * MI]);
    expect(drawn.addressOf('B')).toBe(drawn.addressOf('A') + 20 * MI - 512);
    expect(drawn.replay.end.inactiveSplitBytes).toBe(0);
  });
});

describe('free memory', () => {
  it('does not merge across adjacent segments', () => {
    const { replay } = replayText(`
      +seg 20Mi large @0x1000000
      +seg 20Mi large @0x2400000
      +A 20Mi
      +B 20Mi
      -A
      -B`);
    expect(replay.end).toMatchObject({ reservedBytes: 40 * MI, inactiveSplitBytes: 0 });
    expect(replay.anomalyCount).toBe(0);
  });

  it('is unavailable while a free is pending', () => {
    const { replay, eventOf } = replayText(`
      +A 512
      -A?
      +B 512
      -A!`);
    const at = eventOf('-A?');
    expect(replay.countersAt(at)).toMatchObject({ allocatedBytes: 0, activeBytes: 512 });
    expect(replay.allocations.freeRequested[0]).toBe(at);
    expect(replay.allocations.end[0]).toBe(eventOf('-A!'));
    expect(replay.anomalyCount).toBe(0);
  });

  it('is unmapped and mapped again in pages', () => {
    const { replay, eventOf } = replayText(`
      +map 60Mi large @0x1000000
      +A 10Mi
      -map 20Mi @0x2400000
      -A
      +map 20Mi large @0x2400000
      +B 60Mi`);
    expect(replay.countersAt(eventOf('-map')).reservedBytes).toBe(40 * MI);
    expect(replay.end).toMatchObject({ reservedBytes: 60 * MI, activeBytes: 60 * MI });
    expect(replay.anomalyCount).toBe(0);
  });

  it('of a private pool belongs to that pool, also if expandable', () => {
    const drawn = replayText(`
      set expandable_segments=true
      +A 512
      +B 512 pool=1,0
      +C 4Mi pool=1,0`);
    const { pools } = drawn.trace;
    const poolOf = (row: number) => pools[drawn.replay.allocations.pool[row]].id;
    expect([0, 1, 2].map(poolOf)).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
    ]);
    const spanPools = Array.from(drawn.replay.segmentSpans.pool, (pool) => pools[pool].id);
    expect(spanPools).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
    ]);
  });
});

describe('a trace that began late', () => {
  it('knows from the final segments which blocks are pending at the end', () => {
    const drawn = replayText(`
      +A 19Mi @train.py:1 load
      ring
      -A?`);
    const { allocations, start } = drawn.replay;
    expect(sizes(drawn)).toEqual([20 * MI]);
    expect(allocations.start[0]).toBe(BEFORE_TRACE);
    expect([allocations.freeRequested[0], allocations.end[0]]).toEqual([0, NEVER]);
    expect(allocations.stack[0]).toBeGreaterThan(0);
    expect(start.allocatedBytes).toBe(20 * MI);
    expect(drawn.replay.anomalyCount).toBe(0);
  });

  it('has blocks whose frees were pending before it', () => {
    const { replay } = replayText(`
      +A 512
      -A?
      record
      +B 512
      -A!
      -B`);
    expect(replay.start).toMatchObject({ allocatedBytes: 0, activeBytes: 512 });
    expect(replay.allocations.freeRequested[0]).toBe(BEFORE_TRACE);
    expect(replay.recording).toBe('preexisting');
  });

  it('gives a block of max_split_size the whole segment', () => {
    const drawn = replayText(`
      set max_split_size=20971520
      +seg 30Mi large @0x1000000
      +A 21Mi
      record
      -A`);
    expect(drawn.replay.start).toEqual(drawn.counters[0][0]);
  });

  it('was truncated when a segment has a stack and its event is gone', () => {
    const { replay } = replayText(`
      +A 512 @train.py:1 load
      -A
      ring
      +B 512`);
    expect(replay.recording).toBe('truncated');
  });
});

describe('a dump that raced with the program', () => {
  it('counts a block that only the final segments have, and keeps it out of the trace', () => {
    const drawn = replayText(`
      +A 512
      -A
      +B 1024
      dump
      +C 512`);
    expect(drawn.replay.recording).toBe('complete');
    expect(drawn.replay.start.activeBytes).toBe(0);
    expect(drawn.replay.end).toEqual(drawn.counters[0].at(-1));
    expect(drawn.replay.anomalies.map(({ event }) => event)).toEqual([
      drawn.trace.events.length - 1,
    ]);
  });

  it('counts a block that the final segments no longer have', () => {
    const drawn = replayText(`
      +A 512
      +B 1024
      dump
      -A`);
    expect(drawn.replay.end).toEqual(drawn.counters[0].at(-1));
    expect(drawn.replay.anomalyCount).toBe(1);
  });
});

describe('a recording without whole kinds of entries', () => {
  const block = { addr: 0x1000000, size: 512, stream: 0 };
  const alloc = { ...block, action: 'alloc' };
  const segment = { action: 'segment_alloc', addr: 0x1000000, size: 2 * MI, stream: 0 };

  it('completes frees when they are requested if no free_completed is recorded', () => {
    const free = { ...block, action: 'free_requested' };
    const replay = replayEntries([segment, alloc, free, { ...alloc, size: 5000 }, free]);
    expect(replay.anomalyCount).toBe(0);
    expect(Array.from(replay.allocations.end)).toEqual([2, 4]);
    expect(replay.end).toMatchObject({ activeBytes: 0, requestedBytes: 0, inactiveSplitBytes: 0 });
    expect(replay.countersAt(2)).toMatchObject({ activeBytes: 0, requestedBytes: 0 });
  });

  it('keeps a pending block pending when the final segments say so', () => {
    const { replay } = replayText(`
      +A 512
      -A?`);
    expect(replay.end.activeBytes).toBe(512);
    expect(replay.anomalyCount).toBe(0);
  });

  it('counts a free_completed that nobody requested while others are', () => {
    const requested = { ...block, action: 'free_requested' };
    const completed = { ...block, action: 'free_completed' };
    const replay = replayEntries([segment, alloc, requested, completed, alloc, completed]);
    expect(replay.anomalies.map(({ event }) => event)).toEqual([5]);
  });

  it('closes one block per alloc if no frees are recorded, in linear time', () => {
    const entries = [segment, ...Array.from({ length: 20_000 }, () => alloc)];
    const replay = replayEntries(entries);
    expect(replay.end.activeBytes).toBe(512);
    expect(replay.anomalyCount).toBe(19_999);
    for (let t = 1; t < entries.length; t++) {
      expect(replay.countersAt(t).activeBytes).toBe(512);
    }
  });

  it('says that a block is longer than the free memory it was given', () => {
    const replay = replayEntries([segment, { ...alloc, size: 3 * MI }]);
    expect(replay.anomalyCount).toBe(1);
    expect(replay.allocations.requestedBytes[0]).toBe(3 * MI);
  });
});

describe('memory outside the CUDA allocator', () => {
  it('accepts what the profiler wrote unchanged', () => {
    const entry = { stream: 0, category: 'parameter', frames: [] };
    const blocks = [
      { size: 100, state: 'active_allocated', requested_size: 100, frames: [] },
      { size: 28, state: 'inactive' },
      { size: 64, state: 'active_allocated', requested_size: 64, frames: [] },
    ];
    const replay = replayEntries(
      [
        { ...entry, action: 'alloc', addr: 4096, size: 100 },
        { ...entry, action: 'alloc', addr: 4224, size: 64 },
      ],
      [{ device: 0, address: 4096, total_size: 192, stream: 0, blocks }],
    );
    expect(replay.anomalyCount).toBe(0);
    expect(Array.from(replay.allocations.sizeBytes)).toEqual([100, 64]);
    expect(replay.end.activeBytes).toBe(164);
  });
});
