/**
 * What the simulated process has from the device: reserved bytes against the limit, the calls that
 * changed them, and their course over the trace.
 */
import { DeviceAddresses } from './device-addresses.ts';

/** One segment_alloc, segment_map (positive bytes), segment_free or segment_unmap (negative). */
export interface SegmentChange {
  /** Event of the recording that was being run. */
  readonly event: number;
  readonly bytes: number;
  readonly isExpandable: boolean;
}

export type SegmentListener = (change: SegmentChange, reservedBytes: number) => void;

export class DeviceMemory {
  readonly addresses = new DeviceAddresses();
  readonly limitBytes: number;
  reservedBytes = 0;
  peakReservedBytes = 0;
  /** cudaMalloc and cuMemMap, cudaFree and cuMemUnmap. */
  deviceAllocs = 0;
  deviceFrees = 0;
  /** The event that is being run. */
  event = -1;
  readonly #onChange: SegmentListener;

  /** @param onChange hears of each change, and what is reserved after it */
  constructor(limitBytes: number, onChange: SegmentListener) {
    this.limitBytes = limitBytes;
    this.#onChange = onChange;
  }

  fits(bytes: number): boolean {
    return this.reservedBytes + bytes <= this.limitBytes;
  }

  /** What was there before the trace. */
  seed(bytes: number): void {
    this.reservedBytes += bytes;
  }

  /** What was done so far was before the first event. */
  startCounting(): void {
    this.peakReservedBytes = this.reservedBytes;
    this.deviceAllocs = 0;
    this.deviceFrees = 0;
  }

  add(bytes: number, isExpandable: boolean): void {
    this.deviceAllocs++;
    this.reservedBytes += bytes;
    if (this.reservedBytes > this.peakReservedBytes) this.peakReservedBytes = this.reservedBytes;
    this.#onChange({ event: this.event, bytes, isExpandable }, this.reservedBytes);
  }

  remove(bytes: number, isExpandable: boolean): void {
    this.deviceFrees++;
    this.reservedBytes -= bytes;
    this.#onChange({ event: this.event, bytes: -bytes, isExpandable }, this.reservedBytes);
  }
}
