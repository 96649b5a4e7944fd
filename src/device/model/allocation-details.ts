import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import type { ColumnSpec } from '../../base/table.ts';
import {
  type CarriedColumn,
  EMPTY_STACK,
  EVENT_COLUMNS,
  type EventIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { freesHaveStacks } from '../classes/passes.ts';
import { allocationLabel, privatePoolText, streamText } from './allocation-labels.ts';
import { isMoment } from './annotation-groups.ts';
import { callSiteInfo, siteOfAllocation } from './call-sites.ts';
import type { DeviceModel } from './device-model.ts';
import { timeOfEventUs } from './events.ts';
import { stackKind } from './stacks.ts';
import type { CarriedValues, FrameView } from './types.ts';
import { waitsFrom } from './waits.ts';

export type AllocationDetails = ReturnType<typeof allocationDetails>;

/** The contents of an allocation's details panel. `index` must be in the replay's table. */
export function allocationDetails(context: DeviceModel, index: AllocationIndex) {
  const { snapshot, trace, replay, stacks } = context;
  const table = replay.allocations;
  const stack = table.stack[index];
  const isPreexisting = index < table.preexisting;
  return {
    index,
    label: allocationLabel(table, snapshot.addresses, index),
    requestedBytes: table.requestedBytes[index],
    blockBytes: table.sizeBytes[index],
    startEvent: table.start[index],
    freeRequestedEvent: table.freeRequested[index],
    endEvent: table.end[index],
    /** Microseconds since the first event; NaN if unknown. */
    startUs: timeOfEventUs(trace.events, table.start[index]),
    endUs: timeOfEventUs(trace.events, table.end[index]),
    state: stateAtEnd(table.freeRequested[index], table.end[index]),
    preexisting: isPreexisting,
    stream: streamText(trace.streams[table.stream[index]]),
    pool: table.isSmall[index] === 1 ? ('small' as const) : ('large' as const),
    privatePool: privatePoolText(trace.pools[table.pool[index]]),
    allocStack: stacks.view(stack, isPreexisting),
    ...freeStack(context, index),
    /** The user's own line; undefined without a stack. */
    topUserFrame: stacks.topUserFrameView(stack),
    /** All allocations of the same call site: see `StackReader.siteOf`. */
    callSite: callSiteInfo(context.callSites(), siteOfAllocation(context, index)),
    ...carriedValues(context, table.start[index]),
    /** Metadata of `annotate` events at its address while it was live (_annotate_tensor of 2.14), in order. */
    laterMetadata: laterMetadata(context, index),
    /** Names of the annotations that it was made in, outermost first. */
    annotations: annotationsAround(context, table.start[index]),
  };
}

function laterMetadata(context: DeviceModel, index: AllocationIndex): string[] {
  const { action, address } = context.trace.events;
  const { start, end, address: addressOf } = context.replay.allocations;
  const texts: string[] = [];
  let event = action.indexOf(TraceAction.Annotate, start[index] + 1);
  while (event >= 0 && event < end[index]) {
    const { userMetadata } = carriedValues(context, event);
    const isOwn = address[event] === addressOf[index];
    if (isOwn && userMetadata !== undefined) texts.push(userMetadata);
    event = action.indexOf(TraceAction.Annotate, event + 1);
  }
  return texts;
}

/** Empty for an allocation from before the trace. */
function annotationsAround(context: DeviceModel, event: EventIndex): string[] {
  if (event < 0) return [];
  return context
    .annotations()
    .filter((span) => span.startEvent <= event && event < span.endEvent && !isMoment(span))
    .map(({ name }) => name);
}

function stateAtEnd(freeRequested: EventIndex, end: EventIndex): 'freed' | 'pending' | 'live' {
  if (end !== NEVER) return 'freed';
  return freeRequested === NEVER ? 'live' : 'pending';
}

/**
 * Where the program freed it: the stack of free_requested. free_completed comes from inside the allocator after waiting
 * for a stream, so we use it only if the request was not recorded.
 */
function freeStack({ trace, replay, stacks }: DeviceModel, index: AllocationIndex) {
  const { freeRequested, end, stack } = replay.allocations;
  const event = Math.min(freeRequested[index], end[index]);
  const freedBy = event === NEVER ? undefined : trace.events.stack[event];
  return {
    /** Undefined if not freed. */
    freeStack: freedBy === undefined ? undefined : stacks.view(freedBy),
    /** PyTorch repeats the allocation's stack with context='alloc'; else the same line freed it. */
    freeStackIsAllocStack:
      freedBy !== undefined &&
      freedBy > EMPTY_STACK &&
      freedBy === stack[index] &&
      !freesHaveStacks(trace.events, replay.allocationOfEvent, replay.allocations),
  };
}

/** PyTorch writes this outside of compiled regions. */
const NO_COMPILE_CONTEXT = 'N/A';

/** What the alloc event carries; empty for an allocation from before the trace. */
export function carriedValues({ snapshot, trace }: DeviceModel, event: EventIndex): CarriedValues {
  const columns = Object.entries(EVENT_COLUMNS) as [CarriedColumn, ColumnSpec][];
  const carried = columns.filter(([, { pickleKey }]) => pickleKey !== undefined);
  const { forwardFrames, compileContext, ...values } = Object.fromEntries(
    carried.map(([name, { type }]) => {
      const value = trace.events[name]?.[event] ?? Number.NaN;
      if (type === 'f64') return [name, Number.isNaN(value) ? undefined : value];
      return [name, value > 0 ? snapshot.strings.get(value) : undefined];
    }),
  );
  return {
    ...values,
    compileContext: compileContext === NO_COMPILE_CONTEXT ? undefined : compileContext,
    forwardFrames: forwardFrames?.split('\n'),
  };
}

/** What lies in a range of bytes of the stack at one state. */
export interface StackRange {
  /** Allocations that overlap the range, bottom first; empty above the stack. */
  readonly ids: readonly AllocationIndex[];
  /** Sum of their whole blocks, not only the overlap. */
  readonly totalBytes: number;
  /** The one that covers most of the range, the lowest of equals; -1 for none. */
  readonly main: AllocationIndex;
  /** Bytes below `main` in the stack; 0 for none. */
  readonly mainBottomBytes: number;
}

/** While the file is still being read, unknown fields may be missing. */
export type HitResult = Omit<
  NonNullable<ReturnType<typeof describeHit>>,
  'leafFrame' | 'usableFrom'
> & {
  readonly usableFrom?: EventIndex | undefined;
  readonly leafFrame?: FrameView | undefined;
  /** Its class, and its name if it has one. */
  readonly what?: string | undefined;
};

/** What the tooltip says; undefined above the stack. */
export function describeHit(
  { snapshot, trace, replay, stacks }: DeviceModel,
  state: EventIndex,
  { ids, main, totalBytes, mainBottomBytes }: StackRange,
) {
  if (main < 0) return undefined;
  const table = replay.allocations;
  const stack = table.stack[main];
  const start = Math.max(0, table.start[main]);
  const end = table.end[main];
  const isPending = table.freeRequested[main] <= state;
  const isStep = isPending && waitsFrom(table.freeRequested[main], end) === end;
  return {
    /** Allocations that overlap the pixel. */
    count: ids.length,
    /** The one that covers most of the pixel. */
    allocation: main,
    label: allocationLabel(table, snapshot.addresses, main),
    blockBytes: table.sizeBytes[main],
    requestedBytes: table.requestedBytes[main],
    /** Of an allocation from before the trace, only what the trace covers. */
    ageEvents: state - start,
    ageUs: timeOfEventUs(trace.events, state) - timeOfEventUs(trace.events, start),
    isFromBefore: main < table.preexisting,
    /** Freed, but not to be used again yet. */
    pending: isPending,
    /** The event from which it can be used again, if that is the next one: nothing waits. */
    usableFrom: isStep ? end : undefined,
    stackKind: stackKind(stack, main < table.preexisting),
    topFrame: stacks.topUserFrameView(stack),
    leafFrame: stacks.leafFrameView(stacks.siteOf(stack)),
    totalBytes,
    /** Lower edge of the allocation in the stack. */
    bottomBytes: mainBottomBytes,
  };
}
