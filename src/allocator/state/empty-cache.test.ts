import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { type EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { DEFAULT_LARGE_SEGMENT_BYTES } from '../replay/rounding.ts';
import { allocatorStateAt, mappedSince } from './allocator-state.ts';
import { type CacheRelease, cacheReleaseAt } from './empty-cache.ts';

const MI = 2 ** 20;

function releaseAt({ trace, replay }: DeviceModel, event: number): CacheRelease {
  const since = mappedSince(replay.segmentSpans, trace.events);
  return cacheReleaseAt(
    allocatorStateAt(replay, since, event),
    trace.pools,
    DEFAULT_LARGE_SEGMENT_BYTES,
  );
}

/** Consecutive entries that returned memory to the driver. */
function* releases({ action, sizeBytes }: EventTable) {
  const isRelease = (t: number) =>
    action[t] === TraceAction.SegmentFree || action[t] === TraceAction.SegmentUnmap;
  for (let t = 0; t < action.length; t++) {
    if (!isRelease(t)) continue;
    const event = t;
    let bytes = 0;
    for (; isRelease(t); t++) bytes += sizeBytes[t];
    yield { event, bytes };
  }
}

function drawn(text: string): DeviceModel {
  const [context] = contextsOf(snapshotFromText(text).snapshot);
  return context;
}

const atTheEnd = (context: DeviceModel): CacheRelease =>
  releaseAt(context, context.trace.events.length - 1);

/**
 * Captures in which memory is returned by empty_cache() or to make room. Garbage collection and the split limit
 * return part of the cache by their own rules, so their captures are not here.
 */
const WITH_RELEASES = [
  'cuda_graph_pool',
  'frag_gpt_varlen',
  'near-miss/leak_lightning',
  'near-miss/leak_until_oom',
  'oom_batch_too_big',
  'oom_fragmented',
  'whatif_pow2/frag_gpt_varlen',
  'whatif_pow2/oom_fragmented',
];

it.each(WITH_RELEASES)('%s: the allocator released what was predicted', (name) => {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  const given = [...releases(context.trace.events)];
  const told = given.map(({ event }) => releaseAt(context, event - 1).releasedBytes);
  expect(given.length).toBeGreaterThan(0);
  expect(told).toEqual(given.map(({ bytes }) => bytes));
});

it.each([
  { what: 'native', settings: [] },
  { what: 'expandable', settings: ['set expandable_segments=true'] },
])(
  '$what: any program releases what is predicted, and all remaining free bytes have a reason',
  ({ settings }) => {
    fc.assert(
      fc.property(allocatorProgram(settings), (lines) => {
        const context = drawn(lines.join('\n'));
        for (const { event, bytes } of releases(context.trace.events)) {
          const { releasedBytes, awaitedBytes } = releaseAt(context, event - 1);
          // The drawn allocator does not wait for the streams of pending blocks.
          expect(releasedBytes - awaitedBytes).toBe(bytes);
        }
        for (let event = -1; event < context.trace.events.length; event++) {
          const release = releaseAt(context, event);
          const { reservedBytes, allocatedBytes } = context.replay.countersAt(event);
          const kept = release.pinnedBytes + release.partialPageBytes;
          expect(release.releasedBytes + release.privateBytes + kept).toBe(
            reservedBytes - allocatedBytes,
          );
          expect(release.pins.reduce((sum, { bytes }) => sum + bytes, 0)).toBeCloseTo(kept, 3);
        }
      }),
      { numRuns: 60 },
    );
  },
);

describe('why memory stays', () => {
  it('names the blocks that pin a native segment', () => {
    const release = atTheEnd(
      drawn(`
        +a 2Mi @a.py:1 f
        +b 2Mi @b.py:1 g
        +whole 40Mi @c.py:1 h
        -whole
      `),
    );
    expect(release).toMatchObject({
      releasedBytes: 40 * MI,
      releasedSegments: 1,
      releasedPageBytes: 0,
    });
    expect(release).toMatchObject({ pinnedBytes: 16 * MI, pinnedSegments: 1 });
    expect(release.pins.map(({ allocation, bytes }) => [allocation, bytes])).toEqual([
      [0, 8 * MI],
      [1, 8 * MI],
    ]);
  });

  it('waits for pending frees', () => {
    const release = atTheEnd(drawn('+a 40Mi @a.py:1 f\n-a?'));
    expect(release).toMatchObject({ releasedBytes: 40 * MI, awaitedBytes: 40 * MI, pins: [] });
  });

  it('releases whole pages of an expandable segment and attributes the rest to their neighbors', () => {
    const release = atTheEnd(
      drawn(`
        set expandable_segments=true
        +low 2Mi @a.py:1 f
        +middle 60Mi @b.py:1 g
        +high 2Mi @c.py:1 h
        -middle
      `),
    );
    // Free are 2 to 62 MiB of 80, with the pages from 20 to 60; and 64 to 80, on a page that `high` is on.
    expect(release).toMatchObject({
      releasedBytes: 40 * MI,
      releasedSegments: 0,
      releasedPageBytes: 40 * MI,
      partialPageBytes: 36 * MI,
    });
    expect(release.pins.map(({ allocation, bytes }) => [allocation, bytes])).toEqual([
      [0, 18 * MI],
      [2, 2 * MI],
      [2, 16 * MI],
    ]);
  });

  it('leaves a private pool its memory', () => {
    const release = atTheEnd(drawn('+seg 40Mi large @0x7f0000000000 pool=1,0'));
    expect(release).toMatchObject({ releasedBytes: 0, privateBytes: 40 * MI });
  });
});
