import type { EventIndex, EventTable } from '../snapshot/tables.ts';

/** Events `from` to before `to`; both within the table. Columns are views, not copies. */
export function eventsOfWindow(all: EventTable, from: EventIndex, to: EventIndex): EventTable {
  const move = <V>(byEvent: ReadonlyMap<EventIndex, V>): Map<EventIndex, V> =>
    new Map(
      [...byEvent]
        .filter(([event]) => event >= from && event < to)
        .map(([event, value]) => [event - from, value]),
    );
  return {
    length: to - from,
    action: all.action.subarray(from, to),
    address: all.address.subarray(from, to),
    sizeBytes: all.sizeBytes.subarray(from, to),
    stream: all.stream.subarray(from, to),
    stack: all.stack.subarray(from, to),
    timeUs: all.timeUs?.subarray(from, to),
    pool: all.pool?.subarray(from, to),
    compileContext: all.compileContext?.subarray(from, to),
    userMetadata: all.userMetadata?.subarray(from, to),
    category: all.category?.subarray(from, to),
    forwardFrames: all.forwardFrames?.subarray(from, to),
    oomDeviceFreeBytes: move(all.oomDeviceFreeBytes),
    unknownActions: move(all.unknownActions),
    unknownKeys: new Map([...all.unknownKeys].map(([key, values]) => [key, move(values)])),
  };
}
