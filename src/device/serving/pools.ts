/** The private pools of a device: what each is for, and its reserved and live bytes over time. */

import { type AllocationIndex, isPrivatePool, type Replay } from '../../allocator/replay/types.ts';
import { addUp, largestFirst } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import type { EventIndex, PoolIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { type PoolKind, poolKind, privatePoolText } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { FrameView } from '../model/types.ts';

/** Each point is the highest of equally many events. */
export interface PoolCurve {
  readonly reservedBytes: readonly number[];
  readonly liveBytes: readonly number[];
}

export interface PoolHistory {
  readonly pool: PoolIndex;
  /** '(0, 3)' */
  readonly id: string;
  readonly kind: PoolKind;
  /** What the program wrote about the blocks in it, if it wrote the same of all. */
  readonly name: string | undefined;
  /** The user's line that allocated most in it. */
  readonly line: FrameView | undefined;
  /** The highest sum of live blocks: what captures needed, and replays write to. */
  readonly peakLiveBytes: number;
  readonly curve: PoolCurve;
}

/** What says which pools there are. */
export interface PoolSource {
  readonly trace: Pick<DeviceModel['trace'], 'pools'>;
  readonly replay: { readonly segmentSpans: Pick<Replay['segmentSpans'], 'pool'> };
}

interface PoolTables {
  readonly snapshot: Pick<DeviceModel['snapshot'], 'strings'>;
  readonly trace: DeviceModel['trace'];
  readonly stacks: DeviceModel['stacks'];
  readonly replay: Pick<Replay, 'allocations' | 'segmentSpans'>;
}

const POINTS = 96;

/** The pools that had memory at any time, the largest first. */
export function poolHistories(context: PoolTables): readonly PoolHistory[] {
  return usedPools(context)
    .map((pool) => history(context, pool))
    .sort((a, b) => highest(b.curve.reservedBytes) - highest(a.curve.reservedBytes));
}

/** The private pools that had memory at any time. */
export function usedPools({ trace, replay }: PoolSource): readonly PoolIndex[] {
  const pools = [...trace.pools.keys()].filter((pool) => isPrivatePool(trace.pools[pool]));
  if (pools.length === 0) return [];
  const isUsed = new Set<PoolIndex>(replay.segmentSpans.pool);
  return pools.filter((pool) => isUsed.has(pool));
}

function history(context: PoolTables, pool: PoolIndex): PoolHistory {
  const { trace, replay, stacks } = context;
  const { pool: poolOf, stack, sizeBytes } = replay.allocations;
  const byStack = new Map<StackIndex, number>();
  const ids: AllocationIndex[] = [];
  poolOf.forEach((own, id) => {
    if (own !== pool) return;
    ids.push(id);
    addUp(byStack, stack[id], sizeBytes[id]);
  });
  const lines = largestFirst(byStack).map(([own]) => stacks.topUserFrameView(own));
  return {
    pool,
    id: privatePoolText(trace.pools[pool]) ?? '',
    kind: poolKind(context, pool) ?? 'MemPool',
    name: writtenName(context, ids),
    line: lines.find((line) => line !== undefined),
    ...lives(replay, trace.events.length, pool, ids),
  };
}

/** `torch.cuda.memory._set_memory_metadata("kv_cache")` around everything that the pool holds. */
function writtenName({ snapshot, trace, replay }: PoolTables, ids: readonly AllocationIndex[]) {
  const { userMetadata } = trace.events;
  const { start } = replay.allocations;
  const texts = new Set(ids.map((id) => userMetadata?.[start[id]] ?? -1));
  const [text = -1] = texts;
  return texts.size === 1 && text > 0 ? snapshot.strings.get(text) : undefined;
}

/** Deltas by event, summed once: a pool has few segments, and the blocks of a capture. */
function lives(
  { allocations, segmentSpans }: PoolTables['replay'],
  events: number,
  pool: PoolIndex,
  ids: readonly AllocationIndex[],
) {
  const live = new Map<EventIndex, number>();
  const reserved = new Map<EventIndex, number>();
  for (const id of ids) {
    addUp(live, allocations.start[id], allocations.sizeBytes[id]);
    addUp(live, allocations.end[id], -allocations.sizeBytes[id]);
  }
  segmentSpans.pool.forEach((own, row) => {
    if (own !== pool) return;
    addUp(reserved, segmentSpans.start[row], segmentSpans.sizeBytes[row]);
    addUp(reserved, segmentSpans.end[row], -segmentSpans.sizeBytes[row]);
  });
  const liveBytes = curveOf(live, events);
  return {
    peakLiveBytes: highest(liveBytes),
    curve: { reservedBytes: curveOf(reserved, events), liveBytes },
  };
}

function curveOf(deltas: ReadonlyMap<EventIndex, number>, events: number): number[] {
  const changes = [...deltas].sort(([a], [b]) => a - b);
  const count = Math.max(1, Math.min(POINTS, events));
  let [bytes, next] = [0, 0];
  return Array.from({ length: count }, (_, point) => {
    const end = Math.floor((events * (point + 1)) / count);
    let most = point === 0 ? 0 : bytes;
    for (; next < changes.length && changes[next][0] < end; next++) {
      bytes += changes[next][1];
      most = Math.max(most, bytes);
    }
    return most;
  });
}
