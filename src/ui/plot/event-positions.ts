/** Where single events lie on the x axis: by time that is asked of the worker, once an event. */
import type { DeviceInfo } from '../../device/model/types.ts';
import type { PlotAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { SessionApi } from '../../worker/protocol.ts';
import { endOf, toPlotX } from './viewport-of.ts';

export class EventPositions {
  readonly #session: Pick<SessionApi, 'crosshair'>;
  readonly #device: DeviceInfo;
  readonly #onKnown: () => void;
  /** NaN while it is asked for. */
  readonly #timesUs = new Map<EventIndex, number>();

  constructor(
    session: Pick<SessionApi, 'crosshair'>,
    device: DeviceInfo,
    /** A place that was not known when it was asked for is now. */
    onKnown: () => void,
  ) {
    this.#session = session;
    this.#device = device;
    this.#onKnown = onKnown;
  }

  /** Left edge of an event, one past the last for where the trace ends; undefined while not known. */
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
      const { timeUs } = await this.#session.crosshair({ deviceIndex: this.#device.index, event });
      this.#timesUs.set(event, timeUs);
      this.#onKnown();
    } catch {
      // The worker is gone; the frame that fails with it tells the user.
    }
  }
}
