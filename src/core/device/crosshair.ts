import { ACTION_NAMES, type EventIndex, type EventTable } from '../snapshot/tables.ts';
import type { DeviceContext } from './device-context.ts';
import { timeOfEventUs } from './event-times.ts';
import type { Crosshair } from './types.ts';

/** State after an event. Events beyond the ends of the trace are taken as -1 (before it) and the last. */
export function crosshairAt({ trace, replay }: DeviceContext, event: EventIndex): Crosshair {
  const clamped = Math.max(-1, Math.min(event, trace.events.length - 1));
  return {
    event: clamped,
    action: clamped < 0 ? '' : actionName(trace.events, clamped),
    timeUs: timeOfEventUs(trace.events, clamped),
    counters: replay.countersAt(clamped),
  };
}

/** PyTorch's word, also for actions that this version does not know. */
export function actionName(events: EventTable, event: EventIndex): string {
  return events.unknownActions.get(event) ?? ACTION_NAMES[events.action[event]];
}
