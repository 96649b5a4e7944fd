import type { AnnotationSpan } from '../device/types.ts';
import type { AnnotationTable, DeviceTrace, Snapshot, StringTable } from '../snapshot/tables.ts';
import type { EventWindow } from './event-window.ts';

/** The ranges that touch the window, with those names that were not strings of the snapshot yet. */
export function annotationsOf(
  { strings }: Pick<Snapshot, 'strings'>,
  spans: readonly AnnotationSpan[],
  { device, events }: DeviceTrace,
  { from, to }: EventWindow,
): { readonly annotations: AnnotationTable; readonly strings: StringTable } {
  const names = new Map<string, number>();
  const nameOf = (name: string) => {
    const row = names.get(name) ?? strings.length + names.size;
    names.set(name, row);
    return row;
  };
  const originUs = events.timeUs?.[0] ?? 0;
  const points = spans
    .filter((span) => span.endEvent > from && span.startEvent < to)
    .flatMap(({ name, startUs, endUs }) => [
      { isStart: 1, name: nameOf(name), timeUs: originUs + startUs },
      { isStart: 0, name: nameOf(name), timeUs: originUs + endUs },
    ]);
  points.sort((a, b) => a.timeUs - b.timeUs);
  const added = [...names.keys()];
  return {
    annotations: {
      length: points.length,
      isStart: Uint8Array.from(points, (point) => point.isStart),
      name: Int32Array.from(points, (point) => point.name),
      device: new Int32Array(points.length).fill(device),
      timeUs: Float64Array.from(points, (point) => point.timeUs),
    },
    strings: {
      length: strings.length + added.length,
      get: (row) => (row < strings.length ? strings.get(row) : (added[row - strings.length] ?? '')),
    },
  };
}
