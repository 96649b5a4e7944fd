/** How far reserved memory ran ahead of what was in use. */
import { type EventIndex, TraceAction } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import { thinned } from './finding-parts.ts';
import { stepCount } from './steps/step-sequence.ts';
import type { Finding } from './types.ts';

interface GapPoint {
  readonly event: EventIndex;
  /** Highest reserved so far minus highest active so far. */
  readonly gap: number;
}

/** Where segments came: between them the gap can only shrink. */
export function gapCurve(study: AnalysisContext): GapPoint[] {
  const { trace, replay } = study.input;
  const { action, sizeBytes } = trace.events;
  const { allocations: table, allocationOfEvent, start } = replay;
  const points: GapPoint[] = [];
  let [active, reserved] = [start.activeBytes, start.reservedBytes];
  let [mostActive, mostReserved] = [active, reserved];
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    switch (action[t]) {
      case TraceAction.Alloc:
        if (id >= 0) active += table.sizeBytes[id];
        mostActive = Math.max(mostActive, active);
        break;
      case TraceAction.FreeCompleted:
        if (id >= 0) active -= table.sizeBytes[id];
        break;
      case TraceAction.SegmentAlloc:
      case TraceAction.SegmentMap:
        reserved += sizeBytes[t];
        if (reserved > mostReserved) {
          mostReserved = reserved;
          points.push({ event: t, gap: mostReserved - mostActive });
        }
        break;
      case TraceAction.SegmentFree:
      case TraceAction.SegmentUnmap:
        reserved -= sizeBytes[t];
        break;
      default:
    }
  }
  return points;
}

/** First event at which half of the final gap between the two peaks was there. */
export function growthOfGap(points: readonly GapPoint[]): EventIndex {
  const last = points[points.length - 1];
  return points.find(({ gap }) => gap >= (last?.gap ?? 0) / 2)?.event ?? 0;
}

/** The gap over time, for the plot. */
export function gapSeries(study: AnalysisContext, curve: readonly GapPoint[]): Finding['series'] {
  const points = thinned(curve);
  if (points.length < 2) return undefined;
  return {
    unit:
      study.rhythms.length > 0 && stepCount(study.rhythms[0]) === points.length ? 'step' : 'event',
    label: 'reserved that no tensor needed',
    events: points.map(({ event }) => event),
    bytes: points.map(({ gap }) => Math.max(0, gap)),
  };
}
