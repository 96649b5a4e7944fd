import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { type StateOverview, segmentRow } from './describe-state.ts';
import { segmentHit } from './segment-bars.ts';
import type { SegmentOrder } from './segment-groups.ts';
import { type LocatedBlock, StateReader } from './state-reader.ts';

const MI = 2 ** 20;

function opened(name: string): DeviceModel {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  return context;
}

function drawn(text: string): DeviceModel {
  const [context] = contextsOf(snapshotFromText(text).snapshot);
  return context;
}

function overviewAt(context: DeviceModel, event: number): StateOverview {
  return new StateReader(context).at(event, 'address').overview;
}

describe('groups', () => {
  it.each([
    'streams_record_stream',
    'cuda_graph_pool',
    'whatif_expandable/train_gpt_small',
    'no_history',
  ])('%s: they add up to the counters', (name) => {
    const context = opened(name);
    const { length } = context.trace.events;
    for (const event of [-1, Math.floor(length / 2), length - 1]) {
      const { groups, totals } = overviewAt(context, event);
      const counters = context.replay.countersAt(event);
      expect(totals.reservedBytes).toBe(counters.reservedBytes);
      expect(totals.allocatedBytes).toBe(counters.allocatedBytes);
      expect(totals.allocatedBytes + totals.pendingBytes).toBe(counters.activeBytes);
      expect(counters.activeBytes - totals.roundingBytes - totals.unknownBytes).toBe(
        counters.requestedBytes,
      );
      const sum = (of: (group: (typeof groups)[number]) => number) =>
        groups.reduce((total, group) => total + of(group), 0);
      expect(sum(({ totals: own }) => own.reservedBytes)).toBe(totals.reservedBytes);
      expect(sum(({ totals: own }) => own.liveBlocks)).toBe(totals.liveBlocks);
      expect(sum(({ totals: own }) => own.segments)).toBe(totals.segments);
    }
  });

  it('are by pool, private ones last, and by stream', () => {
    const { groups } = overviewAt(
      drawn(`
        +seg 2Mi small @0x7f0010000000
        +seg 20Mi large @0x7f0000000000 stream=7
        +seg 20Mi large @0x7f0020000000
        +seg 20Mi large @0x7f0030000000 pool=1,0
        +map 20Mi large @0x7f0040000000
      `),
      Infinity,
    );
    expect(groups.map(({ key }) => key)).toEqual([
      '0 large default 0',
      '0 large default 0x7',
      '1 large default 0',
      '0 small default 0',
      '0 large (1, 0) 0',
    ]);
  });

  it.each<[SegmentOrder, readonly number[]]>([
    ['address', [20, 60, 40]],
    ['size', [60, 40, 20]],
    ['free', [40, 20, 60]],
  ])('in the order of %s', (order, megabytes) => {
    const context = drawn(`
      +seg 20Mi large @0x7f0000000000
      +seg 60Mi large @0x7f0010000000
      +seg 40Mi large @0x7f0020000000
      +full 60Mi @a.py:1 f
    `);
    const { state, grouped } = new StateReader(context).at(3, order);
    const sizes = Array.from(grouped.order, (row) => state.segments.sizeBytes[row] / MI);
    expect(sizes).toEqual(megabytes);
  });
});

describe('a row', () => {
  it('says what a segment holds, how old it is and which line requested it', () => {
    const context = drawn(`
      +a 3Mi @train.py:7 step
      +b 1200000 @train.py:8 step
      -a?
    `);
    const { state } = new StateReader(context).at(3, 'address');
    expect(segmentRow(context, state, 0)).toMatchObject({
      addressHex: '7f0000000000',
      sizeBytes: 20 * MI,
      allocatedBytes: 1200128,
      pendingBytes: 3 * MI,
      largestFreeBytes: 20 * MI - 3 * MI - 1200128,
      roundingBytes: 128,
      liveBlocks: 2,
      mappedEvent: 0,
      ageUs: 30,
      stackKind: 'recorded',
      frame: { name: 'step', line: 7 },
    });
  });

  it('does not know the age of earlier segments', () => {
    const context = opened('train_recorded_late');
    const { state } = new StateReader(context).at(0, 'address');
    expect(segmentRow(context, state, 0)).toMatchObject({
      mappedEvent: -1,
      ageUs: Number.NaN,
      stackKind: 'before-recording',
    });
  });
});

describe('pins', () => {
  it('oom_fragmented at its OOM: the cache could not have helped', () => {
    const context = opened('oom_fragmented');
    const { release, pinSites, otherPinnedBytes, totals } = overviewAt(context, 6195);
    expect(totals.largestFreeBytes).toBeLessThan(context.trace.events.sizeBytes[6195]);
    expect(totals.freeBytes).toBeGreaterThan(context.trace.events.sizeBytes[6195]);
    expect(release.releasedBytes + release.pinnedBytes).toBe(totals.freeBytes);
    const kept = pinSites.reduce((sum, site) => sum + site.keptBytes, otherPinnedBytes);
    expect(Math.abs(kept - release.pinnedBytes)).toBeLessThan(pinSites.length + 1);
    expect(pinSites[0].frame?.filename).toContain('scenarios.py');
  });

  it('counts a block once even if it pins pages on both sides', () => {
    const context = drawn(`
      set expandable_segments=true
      +low 15Mi @a.py:1 f
      +middle 10Mi @b.py:1 g
      +high 15Mi @a.py:2 h
      -low
      -high
    `);
    const { release, pinSites } = overviewAt(context, Infinity);
    expect(release).toMatchObject({ releasedBytes: 0, partialPageBytes: 30 * MI });
    expect(pinSites).toMatchObject([{ blocks: 1, segments: 1, keptBytes: 30 * MI }]);
  });
});

describe('from block to block', () => {
  it('walks through all live blocks and back', () => {
    const context = opened('streams_record_stream');
    const reader = new StateReader(context);
    const walk: LocatedBlock[] = [];
    const next = (allocation: number, step: -1 | 0 | 1) =>
      reader.stepToBlock(200, 'size', { allocation, step, position: 0 });
    let at = next(-1, 1);
    for (; at !== undefined; at = next(at.allocation, 1)) walk.push(at);
    expect(walk.length).toBe(reader.at(200, 'size').grouped.totals.liveBlocks);
    const back: LocatedBlock[] = [];
    for (at = walk.at(-1); at !== undefined; at = next(at.allocation, -1)) back.push(at);
    expect(back.reverse()).toEqual(walk);
    for (const block of walk) {
      expect(next(block.allocation, 0)).toEqual(block);
    }
  });

  it('finds no block that is not live', () => {
    const reader = new StateReader(drawn('+a 1Mi @a.py:1 f\n-a'));
    for (const [allocation, step] of [
      [0, 0],
      [-1, 0],
      [-1, 1],
    ] as const) {
      const found = reader.stepToBlock(Infinity, 'address', { allocation, step, position: 0 });
      expect(found).toBeUndefined();
    }
  });
});

describe('a part of a segment', () => {
  const context = drawn('+a 4Mi @a.py:1 f\n+b 2Mi @b.py:1 g\n+c 4Mi @c.py:1 h\n-b');
  const { state } = new StateReader(context).at(Infinity, 'address');
  const hit = (from: number, to: number) => segmentHit(context, state, 0, from / 20, to / 20);

  it('is a block, several, or a free range', () => {
    expect(hit(1, 2)).toMatchObject({
      kind: 'blocks',
      hit: { count: 1, label: 'b7f0000000000_0' },
    });
    expect(hit(3, 9)).toMatchObject({
      kind: 'blocks',
      hit: { count: 2, allocation: 2, blockBytes: 4 * MI, totalBytes: 8 * MI, ageEvents: 2 },
    });
    expect(hit(4.5, 5)).toEqual({ kind: 'free', addressHex: '7f0000400000', sizeBytes: 2 * MI });
    expect(hit(12, 13)).toMatchObject({ kind: 'free', sizeBytes: 10 * MI });
  });

  it('is empty beyond its end', () => {
    expect(hit(20, 21)).toBeUndefined();
  });
});
