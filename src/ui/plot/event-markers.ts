/** Where single events lie on the x axis: OOMs, snapshots, steps, and events whose place the worker knows. */
import type { StepMarks } from '../../analysis/verdict/verdict.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { isAbortError } from '../../base/errors.ts';
import type { DeviceInfo } from '../../device/model/device-info.ts';
import type { Crosshair } from '../../device/model/events.ts';
import type { PlotAxis, Viewport } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { PlotContext } from './plot-source.ts';
import { oomContent, snapshotContent, type TooltipContent } from './tooltip.ts';
import { endOf, toPlotX } from './viewport-of.ts';

/** The figures at single events, and where these lie. Each event is asked of the worker once. */
export class Crosshairs {
  readonly #context: Pick<PlotContext, 'device' | 'session' | 'onError'>;
  readonly #onKnown: () => void;
  /** Undefined while the worker is asked. */
  readonly #found = new Map<EventIndex, Crosshair | undefined>();

  constructor(context: Pick<PlotContext, 'device' | 'session' | 'onError'>, onKnown: () => void) {
    this.#context = context;
    this.#onKnown = onKnown;
  }

  at(event: EventIndex): Crosshair | undefined {
    if (!this.#found.has(event)) void this.#ask(event);
    return this.#found.get(event);
  }

  /** Left edge of an event; one past the last event is the end of the trace. Undefined until known. */
  xOf(event: EventIndex, axis: PlotAxis): number | undefined {
    const { device } = this.#context;
    if (axis === 'event') return Math.max(0, event);
    if (event <= 0) return 0;
    if (event >= device.events) return endOf(device, axis);
    const timeUs = this.at(event)?.timeUs;
    return timeUs === undefined ? undefined : toPlotX(device, axis, timeUs);
  }

  async #ask(event: EventIndex): Promise<void> {
    const { session, device, onError } = this.#context;
    this.#found.set(event, undefined);
    try {
      const request = { deviceIndex: device.index, event };
      this.#found.set(event, await session.query('crosshair', request));
      this.#onKnown();
    } catch (error) {
      if (!isAbortError(error)) onError(error);
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
  readonly axis: PlotAxis;
  readonly items: readonly Marker[];
  readonly xs: Float64Array;
}

/** OOMs and snapshots, ordered by x; none by time in a trace without times. */
export function markersOf(device: DeviceInfo, axis: PlotAxis): Markers {
  const xOf = (at: { event: EventIndex; timeUs: number }) =>
    axis === 'event' ? at.event + 0.5 : toPlotX(device, axis, at.timeUs);
  const ooms = device.ooms.map((oom): Marker => {
    return { kind: oom.wasRetried ? 'retried' : 'oom', x: xOf(oom), content: oomContent(oom) };
  });
  const snapshots = device.snapshots.map((taken): Marker => {
    return { kind: 'snapshot', x: xOf(taken), content: snapshotContent(taken.event) };
  });
  const items = [...ooms, ...snapshots].filter(({ x }) => !Number.isNaN(x));
  items.sort((a, b) => a.x - b.x);
  return { axis, items, xs: Float64Array.from(items, ({ x }) => x) };
}

/** Markers in view, at most one per CSS pixel and kind. */
export function markersInView(
  { items, xs }: Markers,
  x0: number,
  x1: number,
  width: number,
): readonly Marker[] {
  const perPixel = (x1 - x0) / width;
  const next = new Map<Marker['kind'], number>();
  return items.slice(lowerBound(xs, x0), lowerBound(xs, x1)).filter(({ kind, x }) => {
    if (x < (next.get(kind) ?? x0)) return false;
    next.set(kind, x + perPixel);
    return true;
  });
}

/** Minimum CSS pixels between the strokes of two steps. */
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
