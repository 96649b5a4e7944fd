/** A device's events: their times, their names, and the state after each. */
import type { Replay } from '../../allocator/replay/types.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import type { NarrowColumn } from '../../base/table.ts';
import {
  ACTION_NAMES,
  type DeviceTrace,
  type EventIndex,
  type EventTable,
} from '../../format/snapshot/tables.ts';

/** Microseconds since the device's first event; NaN without times and for events outside the trace. */
export function timeOfEventUs(events: EventTable, event: EventIndex): number {
  const { timeUs } = events;
  if (timeUs === undefined || event < 0 || event >= events.length) return Number.NaN;
  return timeUs[event] - timeUs[0];
}

/** Microseconds from the first to the last event; 0 without times or events. */
export function durationUs(events: EventTable): number {
  return events.length === 0 ? 0 : timeOfEventUs(events, events.length - 1) || 0;
}

/**
 * The last event at or before `timeUs` (since the first event), whose state holds then. -1 before the first event and
 * without times.
 */
export function eventAtTime(events: EventTable, timeUs: number): EventIndex {
  if (events.timeUs === undefined || events.length === 0) return -1;
  return upperBound(events.timeUs, timeUs + events.timeUs[0]) - 1;
}

export type Crosshair = ReturnType<typeof crosshairAt>;

/** State after an event. Events outside the trace are clamped to -1 (before it) and the last. */
export function crosshairAt(
  { trace, replay }: { readonly trace: DeviceTrace; readonly replay: Replay },
  event: EventIndex,
) {
  const clamped = Math.max(-1, Math.min(event, trace.events.length - 1));
  return {
    event: clamped,
    action: clamped < 0 ? '' : actionName(trace.events, clamped),
    /** Microseconds since the first event; NaN without times. */
    timeUs: timeOfEventUs(trace.events, clamped),
    counters: replay.countersAt(clamped),
  };
}

/** PyTorch's word, even for unknown actions. */
export function actionName(events: EventTable, event: EventIndex): string {
  return events.unknownActions.get(event) ?? ACTION_NAMES[events.action[event]];
}

/**
 * The events in a window of the timeline, edges included. On the event axis "state t" spans t to t + 1, so 10.5 to 12.2
 * covers events 10 to 12. On the time axis (microseconds since the first event) it covers events within that time.
 * Without times: all events.
 */
export function eventsInWindow(
  events: EventTable,
  axis: 'event' | 'time',
  range: { readonly from: number; readonly to: number },
): { readonly from: EventIndex; readonly to: EventIndex } {
  if (axis === 'event') {
    return { from: Math.max(0, Math.floor(range.from)), to: Math.max(0, Math.ceil(range.to)) };
  }
  const { timeUs, length } = events;
  if (timeUs === undefined || length === 0) return { from: 0, to: length };
  return {
    from: lowerBound(timeUs, range.from + timeUs[0]),
    to: upperBound(timeUs, range.to + timeUs[0]),
  };
}

/**
 * A trace's idle gaps, and the time axis that shortens them. Startup, a data loader or a sleep can fill nine tenths of
 * a time axis; a folded gap is only as wide as the longest stretch without events that is not a gap.
 *
 * Times are microseconds since the first event; x is a position on the folded axis, the time itself if nothing is
 * folded. Example: 10 s of work, 50 s idle and 10 s of work with cuts of 1 s end at x = 21 s.
 */

export interface TimeFolds {
  /** Start and end time of each gap; ascending. */
  readonly fromUs: Float64Array;
  readonly toUs: Float64Array;
  /** Start of each gap on the folded axis. */
  readonly fromX: Float64Array;
  /** Width of every gap on the folded axis. */
  readonly cutUs: number;
}

export const NO_FOLDS: TimeFolds = {
  fromUs: new Float64Array(0),
  toUs: new Float64Array(0),
  fromX: new Float64Array(0),
  cutUs: 0,
};

/** A longer share of the folded axis counts as a gap. */
const GAP_SHARE = 1 / 200;
/** Each cut shortens the axis, so more stretches count as gaps; a few rounds settle it. */
const ROUNDS = 3;

/** Share of the first cut below which a stretch almost never becomes a gap in later rounds. */
const LEAST_SHARE = 1 / 16;

/** @param timeUs ascending event times; undefined if not recorded */
export function findTimeFolds(timeUs: NarrowColumn | undefined): TimeFolds {
  const length = timeUs?.length ?? 0;
  if (timeUs === undefined || length < 2) return NO_FOLDS;
  const origin = timeUs[0];
  let cutUs = (timeUs[length - 1] - origin) * GAP_SHARE;
  let steps = longSteps(timeUs, cutUs * LEAST_SHARE);
  for (let round = 0; round < ROUNDS; round++) {
    let foldedUs = steps.restUs;
    for (const event of steps.events) {
      foldedUs += Math.min(cutUs, timeUs[event] - timeUs[event - 1]);
    }
    cutUs = foldedUs * GAP_SHARE;
    if (cutUs < steps.leastUs) steps = longSteps(timeUs, cutUs * LEAST_SHARE);
  }
  const fromUs: number[] = [];
  const toUs: number[] = [];
  const fromX: number[] = [];
  let savedUs = 0;
  for (const event of steps.events) {
    const from = timeUs[event - 1] - origin;
    const to = timeUs[event] - origin;
    if (to - from <= cutUs) continue;
    fromUs.push(from);
    toUs.push(to);
    fromX.push(from - savedUs);
    savedUs += to - from - cutUs;
  }
  return {
    fromUs: Float64Array.from(fromUs),
    toUs: Float64Array.from(toUs),
    fromX: Float64Array.from(fromX),
    cutUs,
  };
}

/**
 * The events more than `leastUs` after the previous one, and the time before all others. One pass over millions of
 * events leaves thousands to examine at most.
 */
function longSteps(timeUs: NarrowColumn, leastUs: number) {
  const events: number[] = [];
  let restUs = 0;
  for (let event = 1; event < timeUs.length; event++) {
    const stepUs = timeUs[event] - timeUs[event - 1];
    if (stepUs > leastUs) events.push(event);
    else if (stepUs > 0) restUs += stepUs;
  }
  return { leastUs, events, restUs };
}

/** Time → position on the folded axis. */
export function foldTime({ fromUs, toUs, fromX, cutUs }: TimeFolds, us: number): number {
  const at = lowerBound(fromUs, us) - 1;
  if (at < 0) return us;
  if (us >= toUs[at]) return fromX[at] + cutUs + (us - toUs[at]);
  return fromX[at] + ((us - fromUs[at]) / (toUs[at] - fromUs[at])) * cutUs;
}

/** Position on the folded axis → time. */
export function unfoldTime({ fromUs, toUs, fromX, cutUs }: TimeFolds, x: number): number {
  const at = lowerBound(fromX, x) - 1;
  if (at < 0) return x;
  const into = x - fromX[at];
  if (into >= cutUs) return toUs[at] + (into - cutUs);
  return fromUs[at] + (into / cutUs) * (toUs[at] - fromUs[at]);
}
