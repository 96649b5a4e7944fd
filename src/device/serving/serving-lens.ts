/**
 * A server's memory at one moment: every reserved byte in exactly one part.
 *
 *     reserved = weights + KV cache + each graph's pool + the batch + workspaces + … + free in pools + cached
 *
 * The pool of a CUDA graph is a part of its own, with its live and its free bytes: no other allocation may use it. All
 * other blocks count by their class, wherever they are.
 */
import { findRetriedOoms } from '../../allocator/replay/trace-events.ts';
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { allocatorStateAt, mappedSince } from '../../allocator/state/allocator-state.ts';
import { SegmentKind } from '../../allocator/state/types.ts';
import { addUp, getOrMake, weakMemoized } from '../../base/collections.ts';
import { type EventIndex, type PoolIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { classify } from '../classes/classify.ts';
import { type Classification, Evidence, MemoryClass } from '../classes/types.ts';
import { bytesOf, cardHistory } from '../model/card.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { type PoolHistory, type PoolSource, poolHistories, usedPools } from './pools.ts';
import { sleepSigns } from './sleep.ts';

/** In display order. */
const PARTS = {
  weights: ['weights', 'Parameters and buffers of the model.'],
  'kv-cache': ['KV cache', 'The key-value cache, and tensors that grow like one.'],
  'graph-pools': [
    'CUDA graphs',
    'The private pools of CUDA graphs. Replays write there, so nothing else may use this memory.',
  ],
  batch: [
    'activations of the batch',
    'Activations, temporaries and inputs of the batch that runs.',
  ],
  workspaces: ['workspaces', 'Scratch memory of cuBLAS and cuDNN.'],
  communication: ['communication buffers', 'What collectives send and receive.'],
  other: ['other tensors', 'Tensors that outlive batches, such as input buffers of graphs.'],
  unknown: [
    'unknown',
    'Allocated before the oldest event of the recording, without a stack, or with no pass recorded that would tell.',
  ],
  'free-in-pools': [
    'stranded in other pools',
    'Free memory in private pools of no graph. Only allocations in the same pool can use it.',
  ],
  cached: ['cached by PyTorch', 'Free memory in the default pool, for the next allocations.'],
} as const;

export type ServingPart = keyof typeof PARTS;
export const servingPartText = (part: ServingPart) => {
  const [label, about] = PARTS[part];
  return { label, about };
};

export interface ServingPool extends PoolHistory {
  readonly reservedBytes: number;
  readonly liveBytes: number;
  /** Free, and of no use to other pools. */
  readonly strandedBytes: number;
}

export type ServingLens = ReturnType<typeof servingLens>;

/** The state after `event`; -1 is the state before the first. */
export function servingLens(context: DeviceModel, event: EventIndex) {
  const whole = wholeRun(context);
  const { segments, blocks } = allocatorStateAt(context.replay, whole.since, event);
  const bytes = new Map<ServingPart, { bytes: number; blocks: number }>();
  const add = (part: ServingPart, own: number, count: number) => {
    const sum = getOrMake(bytes, part, () => ({ bytes: 0, blocks: 0 }));
    sum.bytes += own;
    sum.blocks += count;
  };
  const [reserved, live] = [new Map<PoolIndex, number>(), new Map<PoolIndex, number>()];
  for (let s = 0; s < segments.length; s++) {
    // Outside all segments: not part of reserved memory.
    if (segments.kind[s] === SegmentKind.None) continue;
    const pool = segments.pool[s];
    const isGraph = whole.graphPools.has(pool);
    let inBlocks = 0;
    for (let row = segments.firstBlock[s]; row < segments.firstBlock[s + 1]; row++) {
      const id = blocks.allocation[row];
      if (id < 0) continue;
      inBlocks += blocks.sizeBytes[row];
      add(isGraph ? 'graph-pools' : whole.partOf(id), blocks.sizeBytes[row], 1);
    }
    addUp(reserved, pool, segments.sizeBytes[s]);
    addUp(live, pool, inBlocks);
    const free = segments.sizeBytes[s] - inBlocks;
    const place = whole.isPrivate.has(pool) ? 'free-in-pools' : 'cached';
    if (free > 0) add(isGraph ? 'graph-pools' : place, free, 0);
  }
  const pools = whole.pools.map((pool): ServingPool => {
    const [own = 0, used = 0] = [reserved.get(pool.pool), live.get(pool.pool)];
    return { ...pool, reservedBytes: own, liveBytes: used, strandedBytes: own - used };
  });
  return {
    event,
    isServer: whole.isServer,
    /** In display order, without empty ones; their bytes add up to the reserved memory. */
    parts: (Object.keys(PARTS) as ServingPart[]).flatMap((part) => {
      const sum = bytes.get(part);
      return sum === undefined ? [] : [{ part, ...sum }];
    }),
    pools,
    largestBatch: whole.largestBatch,
    sleep: whole.sleep,
    offCard: whole.offCard,
  };
}

const PART_OF_CLASS: Readonly<Partial<Record<MemoryClass, ServingPart>>> = {
  [MemoryClass.Unknown]: 'unknown',
  [MemoryClass.Parameters]: 'weights',
  [MemoryClass.GrowingState]: 'kv-cache',
  [MemoryClass.Activations]: 'batch',
  [MemoryClass.Temporaries]: 'batch',
  [MemoryClass.Inputs]: 'batch',
  [MemoryClass.Workspaces]: 'workspaces',
  [MemoryClass.Communication]: 'communication',
};

const natureOf = weakMemoized((context: DeviceModel) => {
  return { pools: poolHistories(context), isServer: isServer(context, classify(context)) };
});

/** No backward pass, and a KV cache or private pools. */
export function isServer(
  context: PoolSource,
  { classOf, evidenceOf }: Pick<Classification, 'classOf' | 'evidenceOf'>,
): boolean {
  const hasCache = classOf.includes(MemoryClass.GrowingState);
  return (hasCache || usedPools(context).length > 0) && !evidenceOf.some(isOfTraining);
}

/** Whether there is something to show: a server, or private pools. Spares long training runs what the lens takes. */
export function hasServing(context: DeviceModel): boolean {
  const { isServer, pools } = natureOf(context);
  return isServer || pools.length > 0;
}

/** What holds for every moment; computed once per device. */
function wholeRunOf(context: DeviceModel) {
  const { replay, trace } = context;
  const { classOf, evidenceOf } = classify(context);
  const { pools, isServer } = natureOf(context);
  const graphPools = new Set(
    pools.filter(({ kind }) => /graph/i.test(kind)).map(({ pool }) => pool),
  );
  const { pool } = replay.allocations;
  const lasts = lastingBatchTensors(context, classOf);
  const isWeight = weightsOf(context, classOf);
  const partOf = (id: AllocationIndex): ServingPart => {
    // Without a recorded pass, nothing says that it belongs to one.
    if (evidenceOf[id] === Evidence.NoPasses) return 'unknown';
    const part = PART_OF_CLASS[classOf[id] as MemoryClass] ?? 'other';
    if (part === 'weights') return isWeight(id) ? 'weights' : 'other';
    return part === 'batch' && lasts(id) ? 'other' : part;
  };
  const first = firstPass(context, classOf);
  const isOfBatch = (id: AllocationIndex) =>
    replay.allocations.start[id] >= first && !graphPools.has(pool[id]) && partOf(id) === 'batch';
  return {
    pools,
    graphPools,
    isPrivate: new Set(pools.map((one) => one.pool)),
    since: mappedSince(replay.segmentSpans, trace.events),
    partOf,
    isServer,
    largestBatch: largestBatch(context, isOfBatch),
    sleep: sleepSigns(context),
    offCard: offCard(context),
  };
}

const wholeRun = weakMemoized(wholeRunOf);

const TRAINING: ReadonlySet<Evidence> = new Set([
  Evidence.OptimizerKept,
  Evidence.OptimizerFreed,
  Evidence.BackwardKept,
  Evidence.BackwardFreed,
  Evidence.FreedInBackward,
  Evidence.LiveUntilBackward,
]);
const isOfTraining = (evidence: Evidence): boolean => TRAINING.has(evidence);

/** Functions that load a model, in vLLM, SGLang and most other servers. */
const LOADING = /^_?(load|get|build|init|initialize|create)_(model|weights)$|^from_pretrained$/;
/** Of all that the classes call parameters, which may include a cache that nothing names. */
const LOADED_SHARE = 0.1;

/**
 * Any object's constructor may allocate tensors that are no weights, such as input buffers. If functions that load models
 * allocated a good part of what the classes call parameters, the rest counts as other tensors.
 */
function weightsOf({ snapshot, replay, stacks }: DeviceModel, classOf: Uint8Array) {
  const { stack, sizeBytes } = replay.allocations;
  const { frame, parent, length } = snapshot.stacks;
  const isLoading = new Uint8Array(length);
  for (let row = 1; row < length; row++) {
    isLoading[row] = isLoading[parent[row]] || Number(LOADING.test(stacks.frame(frame[row]).name));
  }
  const isLoaded = (id: AllocationIndex) => isLoading[stack[id]] === 1;
  let [loaded, all] = [0, 0];
  classOf.forEach((own, id) => {
    if (own !== MemoryClass.Parameters) return;
    all += sizeBytes[id];
    if (isLoaded(id)) loaded += sizeBytes[id];
  });
  return loaded >= LOADED_SHARE * all && loaded > 0 ? isLoaded : () => true;
}

/**
 * Tells input buffers of graphs from what a batch made: they have been live for longer than anything that a batch made
 * and freed. If the program ended in the middle of a batch, its tensors are as old as they can be, so none counts as lasting.
 */
function lastingBatchTensors({ replay, trace, stacks }: DeviceModel, classOf: Uint8Array) {
  const { start, end, length } = replay.allocations;
  const retried = findRetriedOoms(trace, replay, stacks);
  const endsInBatch = trace.events.action.some(
    (action, event) => action === TraceAction.Oom && !retried.has(event),
  );
  let longest = 0;
  for (let id = 0; id < length; id++) {
    if (end[id] === NEVER || PART_OF_CLASS[classOf[id] as MemoryClass] !== 'batch') continue;
    longest = Math.max(longest, end[id] - start[id]);
  }
  const last = trace.events.length - 1;
  return (id: AllocationIndex): boolean =>
    end[id] === NEVER && !endsInBatch && last - start[id] > longest;
}

export type OffCard = ReturnType<typeof offCard>;

/** What the ledger shows of pools that sleep: reserved memory that was not on the card, at least. Undefined without any. */
function offCard(context: DeviceModel) {
  const samples = (cardHistory(context)?.samples ?? []).map(({ event, rows }) => {
    return { event, bytes: Math.max(0, -bytesOf(rows, 'behind-allocator')) };
  });
  const most = samples.reduce((a, b) => (b.bytes > a.bytes ? b : a), { event: -1, bytes: 0 });
  return most.bytes > 0 ? { most, last: samples[samples.length - 1] } : undefined;
}

/** Where the model first runs: before that no batch is there, only what sets it up. */
function firstPass({ replay }: DeviceModel, classOf: Uint8Array): EventIndex {
  const isOfPass = (of: number) => of === MemoryClass.Activations || of === MemoryClass.Workspaces;
  const id = classOf.findIndex(isOfPass);
  return id < 0 ? 0 : replay.allocations.start[id];
}

/** The most that a batch held at once, and when. */
function largestBatch(
  { replay, trace }: DeviceModel,
  isOfBatch: (id: AllocationIndex) => boolean,
): { readonly bytes: number; readonly event: EventIndex } {
  const { start, end, sizeBytes, length } = replay.allocations;
  const changes = new Float64Array(trace.events.length + 1);
  for (let id = 0; id < length; id++) {
    if (!isOfBatch(id)) continue;
    changes[start[id] + 1] += sizeBytes[id];
    if (end[id] !== NEVER) changes[end[id] + 1] -= sizeBytes[id];
  }
  let [bytes, most] = [0, { bytes: 0, event: -1 }];
  changes.forEach((change, after) => {
    bytes += change;
    if (bytes > most.bytes) most = { bytes, event: after - 1 };
  });
  return most;
}
