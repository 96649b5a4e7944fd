/** What the summary view asks: figures as memory_summary() has them, phases, what was recorded. */
import { isMoment, type Phase, phasesOf } from '../../core/device/phases.ts';
import { type MemoryFigures, MemoryTally } from '../../core/memory-summary/memory-tally.ts';
import { type TraceFacts, traceFacts } from '../../core/memory-summary/trace-facts.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import type { DeviceRequest, Query, QueryHandlers } from '../queries.ts';
import { createYield } from '../yield-task.ts';

export interface PhaseTable {
  readonly phases: readonly Phase[];
  /** Annotations of which only the START or the END is in the file: they are in no phase. */
  readonly moments: number;
}

export interface MemorySummaryQueries {
  /**
   * Figures after an event. The first question counts the events up to it, about 100 ms a million,
   * and lets others in between.
   */
  readonly memoryFigures: Query<DeviceRequest & { readonly event: EventIndex }, MemoryFigures>;
  readonly phases: Query<DeviceRequest, PhaseTable>;
  readonly traceFacts: Query<DeviceRequest, TraceFacts>;
}

export const memorySummaryHandlers: QueryHandlers<MemorySummaryQueries> = {
  async memoryFigures(device, { event }, { signal }) {
    const { tally, pause } = device.once(newTally);
    while (tally.missing(event) > 0) {
      tally.count();
      await pause();
      signal.throwIfAborted();
    }
    return tally.at(event);
  },
  phases: (device) => device.once(phaseTable),
  traceFacts: (device) => device.once(factsOf),
};

const newTally = ({ context }: OpenDevice) => {
  return { tally: new MemoryTally(context), pause: createYield() };
};

function phaseTable({ context, index }: OpenDevice): PhaseTable {
  const spans = context.annotations();
  const phases = phasesOf(spans, context.replay, (counter) => index.counter(counter));
  return { phases, moments: spans.filter(isMoment).length };
}

const factsOf = ({ context }: OpenDevice): TraceFacts => traceFacts(context);
