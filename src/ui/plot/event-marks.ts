/** Where single events lie on the x axis: OOMs, snapshots, steps, and events whose place the worker knows. */
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import type { PlotAxis, Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { SessionApi } from '../../worker/protocol.ts';
import { oomContent, snapshotContent, type TooltipContent } from './tooltip.ts';
import { endOf, toPlotX } from './viewport-of.ts';

/** On a time axis, asks the worker for an event's place, once per event. */
export class EventPositions {
  readonly #session: Pick<SessionApi, 'query'>;
  readonly #device: DeviceInfo;
  readonly #onKnown: () => void;
  /** NaN while the worker is asked. */
  readonly #timesUs = new Map<EventIndex, number>();

  /** @param onKnown called when a place becomes known */
  constructor(session: Pick<SessionApi, 'query'>, device: DeviceInfo, onKnown: () => void) {
    this.#session = session;
    this.#device = device;
    this.#onKnown = onKnown;
  }

  /** Left edge of an event; one past the last event is the end of the trace. Undefined until known. */
  xOf(event: EventIndex, axis: PlotAxis): number | undefined {
    if (axis === 'event') return Math.max(0, event);
    if (event <= 0) return 0;
    if (event >= this.#device.events) return endOf(this.#device, axis);
    const timeUs = this.#timesUs.get(event);
    if (timeUs === undefined) void this.#ask(event);
    return timeUs === undefined || Number.isNaN(timeUs)
      ? undefined
      : toPlotX(this.#device, axis, timeUs);
  }

  async #ask(event: EventIndex): Promise<void> {
    this.#timesUs.set(event, Number.NaN);
    try {
      const { timeUs } = await this.#session.query('crosshair', {
        deviceIndex: this.#device.index,
        event,
      });
      this.#timesUs.set(event, timeUs);
      this.#onKnown();
    } catch {
      // The worker is gone; the next frame fails too and tells the user.
    }
  }
}

export interface Marker {
  /** 'retried': an OOM that the program did not see. */
  readonly kind: 'oom' | 'retried' | 'snapshot';
  /** In the middle of its event: events or microseconds. */
  readonly x: number;
  readonly content: TooltipContent;
}

export interface Markers {
  readonly items: readonly Marker[];
  readonly xs: Float64Array;
}

/** OOMs and snapshots whose place is known, ordered by x. */
export function markersOf(
  device: DeviceInfo,
  axis: PlotAxis,
  positions: Pick<EventPositions, 'xOf'>,
): Markers {
  const middle = axis === 'event' ? 0.5 : 0;
  const ooms = device.ooms.map((oom): Marker => {
    const x = axis === 'event' ? oom.event : toPlotX(device, axis, oom.timeUs);
    return { kind: oom.wasRetried ? 'retried' : 'oom', x: x + middle, content: oomContent(oom) };
  });
  const snapshots = device.snapshots.map((event): Marker => {
    const x = (positions.xOf(event, axis) ?? Number.NaN) + middle;
    return { kind: 'snapshot', x, content: snapshotContent(event) };
  });
  const items = [...ooms, ...snapshots].filter(({ x }) => !Number.isNaN(x));
  items.sort((a, b) => a.x - b.x);
  return { items, xs: Float64Array.from(items, ({ x }) => x) };
}

/** Markers in view, at most one per CSS pixel and kind. */
export function markersInView(
  { items, xs }: Markers,
  x0: number,
  x1: number,
  width: number,
): readonly Marker[] {
  const perPixel = (x1 - x0) / width;
  const found: Marker[] = [];
  let at = lowerBound(xs, x0);
  while (at < items.length && (xs[at] ?? x1) < x1) {
    const marker = items[at];
    if (marker === undefined) break;
    found.push(marker);
    const next = items[at + 1];
    const isOther = next !== undefined && next.kind !== marker.kind;
    at = isOther ? at + 1 : Math.max(at + 1, lowerBound(xs, marker.x + perPixel, at));
  }
  return found;
}

/** Minimum CSS pixels between marks of steps. */
const STEP_SPACING = 10;

/** Where steps begin on an axis from x0 to x1 on `width` pixels. */
export function stepsInView(
  steps: StepMarks | undefined,
  device: Pick<DeviceInfo, 'folds'>,
  { axis, x0, x1 }: Pick<Viewport, 'axis' | 'x0' | 'x1'>,
  width: number,
): readonly number[] {
  if (steps === undefined) return [];
  const found: number[] = [];
  let next = x0;
  for (const place of axis === 'event' ? steps.events : steps.timesUs) {
    const x = toPlotX(device, axis, place);
    // NaN (a trace without times) is in no range.
    if (!(x >= next && x <= x1)) continue;
    found.push(x);
    next = x + (STEP_SPACING * (x1 - x0)) / width;
  }
  return found;
}
