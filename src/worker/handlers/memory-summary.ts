/** Queries of the summary view: the figures of memory_summary(), annotations, what was recorded. */
import { runTask } from '../../base/task.ts';
import { classTotalsAt } from '../../device/classes/classify.ts';
import type { ClassTotal } from '../../device/classes/types.ts';
import { type MemoryFigures, MemoryStats } from '../../device/memory-summary/memory-stats.ts';
import { type TraceFacts, traceFacts } from '../../device/memory-summary/trace-facts.ts';
import {
  type AnnotationGroup,
  groupAnnotations,
  isMoment,
} from '../../device/model/annotation-groups.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import type { Query, QueryHandlers } from '../queries.ts';

export interface AnnotationGroups {
  readonly groups: readonly AnnotationGroup[];
  /** Annotations with only a START or an END in the file. They belong to no group. */
  readonly moments: number;
}

export interface MemorySummaryQueries {
  /**
   * Figures after an event. The first request counts the events up to it, about 100 ms a million, and lets other
   * messages in between.
   */
  readonly memoryFigures: Query<{ readonly event: EventIndex }, MemoryFigures>;
  readonly annotationGroups: Query<object, AnnotationGroups>;
  readonly traceFacts: Query<object, TraceFacts>;
  /** Active bytes by class after an event, largest first. */
  readonly classTotals: Query<{ readonly event: EventIndex }, readonly ClassTotal[]>;
}

export const memorySummaryHandlers: QueryHandlers<MemorySummaryQueries> = {
  memoryFigures: (device, { event }, { signal }) =>
    runTask(device.once(statsOf).at(event), { clock: device.clock, signal }),
  annotationGroups: (device) => device.once(summarizeAnnotations),
  classTotals: ({ context }, { event }) => classTotalsAt(context, event),
  traceFacts: (device) => device.once(factsOf),
};

const statsOf = ({ context }: OpenDevice): MemoryStats => new MemoryStats(context);

function summarizeAnnotations({ context, index }: OpenDevice): AnnotationGroups {
  const spans = context.annotations();
  const groups = groupAnnotations(spans, context.replay, (counter) => index.counter(counter));
  return { groups, moments: spans.filter(isMoment).length };
}

const factsOf = ({ context }: OpenDevice): TraceFacts => traceFacts(context);
