/**
 * Programs recorded with stacks="python" and with stacks="all": the kind of stacks must change nothing but frames.
 */
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, type DeviceTrace } from '../../format/snapshot/tables.ts';
import { loadCapture, pairNames, settingsCaptureNames, truthOf } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';

const STACKS = ['python', 'all'] as const;

/** Its ring lost the events of the peaks. */
const TRUNCATED = 'pairs/ring';
/** A free completes when the GPU is done with the block, so at a different event in each run. */
const GPU_ORDERS_FREES = 'pairs/pending_frees';

const recordings = [
  ...pairNames()
    .filter((name) => name !== TRUNCATED)
    .flatMap((name) => STACKS.map((stacks) => `${name}.${stacks}.pickle.gz`)),
  ...settingsCaptureNames(),
];

describe('against the allocator', () => {
  it.each(recordings)('%s', (name) => {
    const snapshot = loadCapture(name);
    const { peaks, end, anomalyCount, recording } = replaysOf(snapshot)[0];
    const stats = truthOf(name).stats[0];
    expect({
      recording,
      anomalyCount,
      requested: peaks.requestedBytes.bytes,
      allocated: peaks.allocatedBytes.bytes,
      active: peaks.activeBytes.bytes,
      reserved: peaks.reservedBytes.bytes,
      allocatedAtEnd: end.allocatedBytes,
      reservedAtEnd: end.reservedBytes,
    }).toEqual({
      recording: 'complete',
      anomalyCount: 0,
      requested: stats['requested_bytes.all.peak'],
      allocated: stats['allocated_bytes.all.peak'],
      active: stats['active_bytes.all.peak'],
      reserved: stats['reserved_bytes.all.peak'],
      allocatedAtEnd: stats['allocated_bytes.all.current'],
      reservedAtEnd: stats['reserved_bytes.all.current'],
    });
  });
});

describe('the same program', () => {
  it.each(pairNames().filter((name) => name !== GPU_ORDERS_FREES))(
    '%s: the same requests in the same order, whichever stacks were recorded',
    (name) => {
      const [python, all] = STACKS.map((stacks) => loadCapture(`${name}.${stacks}.pickle.gz`));
      expect(requestsOf(all.devices[0])).toEqual(requestsOf(python.devices[0]));
      expect(all.frames.length).toBeGreaterThan(python.frames.length);
    },
  );
});

/**
 * Sizes of allocations and segments. Frees may come in another order: autocast frees its casts in the order of a hash
 * map.
 */
function requestsOf({ events }: DeviceTrace): string[] {
  return Array.from({ length: events.length }, (_, t) => t)
    .filter((t) => /^(alloc|segment_alloc|oom)$/.test(ACTION_NAMES[events.action[t]]))
    .map((t) => `${ACTION_NAMES[events.action[t]]} ${events.sizeBytes[t]}`);
}
