/** What is said of a device: one allocation, the search box, the figures of memory_summary(). */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { runTask } from '../../base/task.ts';
import { classify, classTotalsAt } from '../../device/classes/classify.ts';
import { type ClassifiedDetails, classAt, evidenceAt } from '../../device/classes/types.ts';
import { MemoryStats } from '../../device/memory-summary/memory-stats.ts';
import { traceFacts } from '../../device/memory-summary/trace-facts.ts';
import { allocationDetails } from '../../device/model/allocation-details.ts';
import { findAllocation, poolKind } from '../../device/model/allocation-labels.ts';
import {
  type AnnotationGroup,
  groupAnnotations,
  isMoment,
} from '../../device/model/annotation-groups.ts';
import { eventAtTime } from '../../device/model/events.ts';
import { holderOf } from '../../device/model/holders.ts';
import { liveBytesAt, positionBefore, stepMatch } from '../../device/search/match-search.ts';
import { type NamedPart, nameParts } from '../../device/search/qualifiers/names.ts';
import { knownValues } from '../../device/search/qualifiers.ts';
import type { SearchMatches } from '../../device/search/types.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { type AtEvent, queryHandlers } from '../queries.ts';

export interface SearchRequest {
  readonly search: string;
  /** The cursor; undefined means states and ages at the end. */
  readonly at: EventIndex | undefined;
}

/** SearchMatches without its masks. */
export interface SearchSummary extends Omit<SearchMatches, 'mask' | 'frames'> {
  /** False for an empty or invalid search, which shows everything. */
  readonly isFiltering: boolean;
  /** Block bytes of the matches that exist at the cursor; undefined without a cursor. */
  readonly cursorBytes: number | undefined;
}

export interface StepRequest extends SearchRequest {
  /** The allocation from which to step; -1 for none. */
  readonly selected: AllocationIndex;
  /** Without a selection, the walk starts at the window's beginning. */
  readonly axis: TimeAxis;
  readonly windowFrom: number;
  readonly isBackwards: boolean;
}

export interface AnnotationGroups {
  readonly groups: readonly AnnotationGroup[];
  /** Annotations with only a START or an END in the file. They belong to no group. */
  readonly moments: number;
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

  async searchSummary(device, { search, at }: SearchRequest): Promise<SearchSummary> {
    const { mask, frames: _, ...summary } = await device.matches(search, at);
    const cursorBytes = at === undefined ? undefined : liveBytesAt(device.context, mask, at);
    return { ...summary, isFiltering: mask !== undefined, cursorBytes };
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
  annotationGroups: (device) => device.once(summarizeAnnotations),
  /** Active bytes by class after an event, largest first. */
  classTotals: ({ context }, { event }: AtEvent) => classTotalsAt(context, event),
  traceFacts: (device) => device.once(factsOf),
});

const statsOf = ({ context }: OpenDevice): MemoryStats => new MemoryStats(context);

const factsOf = ({ context }: OpenDevice) => traceFacts(context);

function summarizeAnnotations({ context, index }: OpenDevice): AnnotationGroups {
  const spans = context.annotations();
  const groups = groupAnnotations(spans, context.replay, (counter) => index.counter(counter));
  return { groups, moments: spans.filter(isMoment).length };
}
