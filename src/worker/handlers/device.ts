/** What is said of a device: one allocation, the search box, the figures of memory_summary(). */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { runTask } from '../../base/task.ts';
import { classify, classTotalsAt } from '../../device/classes/classify.ts';
import { type ClassifiedDetails, classAt, evidenceAt } from '../../device/classes/types.ts';
import { MemoryStats } from '../../device/memory-summary/memory-stats.ts';
import { traceFacts } from '../../device/memory-summary/trace-facts.ts';
import { allocationDetails } from '../../device/model/allocation-details.ts';
import { findAllocation, poolKind } from '../../device/model/allocation-labels.ts';
import { groupAnnotations, isMoment } from '../../device/model/annotation-groups.ts';
import { eventAtTime } from '../../device/model/events.ts';
import { holderOf } from '../../device/model/holders.ts';
import { liveBytesAt, positionBefore, stepMatch } from '../../device/search/match-search.ts';
import { type NamedPart, nameParts } from '../../device/search/qualifiers/names.ts';
import { knownValues } from '../../device/search/qualifiers.ts';
import { hasServing, servingLens } from '../../device/serving/serving-lens.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { type AtEvent, queryHandlers } from '../queries.ts';

export interface SearchRequest {
  readonly search: string;
  /** The cursor; undefined means states and ages at the end. */
  readonly at: EventIndex | undefined;
}

export interface StepRequest extends SearchRequest {
  /** The allocation from which to step; -1 for none. */
  readonly selected: AllocationIndex;
  /** Without a selection, the walk starts at the window's beginning. */
  readonly axis: TimeAxis;
  readonly windowFrom: number;
  readonly isBackwards: boolean;
}

export const deviceHandlers = queryHandlers({
  allocation({ context }, { index }: { readonly index: AllocationIndex }): ClassifiedDetails {
    const found = classify(context);
    return {
      ...allocationDetails(context, index),
      memoryClass: classAt(found, index),
      classReason: evidenceAt(found, index),
      name: found.names.get(index),
      holder: holderOf(context, index),
      poolKind: poolKind(context, context.replay.allocations.pool[index] ?? 0),
    };
  },
  /** The allocation of a label in a URL; undefined if this snapshot has none. */
  findAllocation({ context: { replay, snapshot } }, { label }: { readonly label: string }) {
    return findAllocation(replay.allocations, snapshot.addresses, label);
  },

  /** What matches, without the masks. */
  async searchSummary(device, { search, at }: SearchRequest) {
    const { mask, frames: _, ...summary } = await device.matches(search, at);
    return {
      ...summary,
      /** False for an empty or invalid search, which shows everything. */
      isFiltering: mask !== undefined,
      /** Block bytes of the matches that exist at the cursor; undefined without a cursor. */
      cursorBytes: at === undefined ? undefined : liveBytesAt(device.context, mask, at),
    };
  },
  /** The next or previous match; undefined if nothing matches. */
  async stepMatch(device, { search, at, selected, axis, windowFrom, isBackwards }: StepRequest) {
    const { context } = device;
    const { events } = context.trace;
    const event = axis === 'time' ? eventAtTime(events, windowFrom) : Math.floor(windowFrom);
    const from = selected >= 0 ? selected : positionBefore(context, event);
    const { mask } = await device.matches(search, at);
    return stepMatch(context, mask, from, isBackwards);
  },
  /** Tells the search the names of the account's parts, for terms such as part:kept. */
  nameParts(device, { parts }: { readonly parts: readonly NamedPart[] }): undefined {
    nameParts(device.context, parts);
    device.forgetMatches();
  },
  searchValues: ({ context }) => knownValues(context),

  /** The first request counts the events up to it, about 100 ms a million, and lets other messages in between. */
  memoryFigures: (device, { event }: AtEvent, { signal }) =>
    runTask(device.once(statsOf).at(event), { clock: device.clock, signal }),
  annotationGroups: (device) => device.once(annotationGroups),
  /** Active bytes by class after an event, largest first. */
  classTotals: ({ context }, { event }: AtEvent) => classTotalsAt(context, event),
  /** A server's memory by part. */
  serving: ({ context }, { event }: AtEvent) =>
    hasServing(context) ? servingLens(context, event) : undefined,
  traceFacts: (device) => device.once(factsOf),
});

export type SearchSummary = Awaited<ReturnType<typeof deviceHandlers.searchSummary>>;

const statsOf = ({ context }: OpenDevice): MemoryStats => new MemoryStats(context);

const factsOf = ({ context }: OpenDevice) => traceFacts(context);

export type AnnotationGroups = ReturnType<typeof annotationGroups>;

function annotationGroups({ context, index }: OpenDevice) {
  const spans = context.annotations();
  const groups = groupAnnotations(spans, context.replay, (counter) => index.counter(counter));
  /** Annotations with only a START or an END in the file. They belong to no group. */
  const moments = spans.filter(isMoment).length;
  return { groups, moments };
}
