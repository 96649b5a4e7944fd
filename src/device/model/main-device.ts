/**
 * Which device a snapshot is about. A job with one process a GPU writes a file a rank, and PyTorch puts a
 * trace of every device of the machine into each: rank 3's file has three empty ones before its own.
 */
import type { Counters, Peak } from '../../allocator/replay/types.ts';

interface Recorded {
  readonly kind: 'cuda' | 'host';
  readonly peaks: { readonly allocatedBytes: Peak };
}

/** Position of the device with the highest peak of allocated bytes; pinned host memory only where no GPU has any. */
export function mainDeviceIndex(devices: readonly Recorded[]): number {
  let main = 0;
  devices.forEach((device, i) => {
    if (isAbove(device, devices[main])) main = i;
  });
  return main;
}

function isAbove(device: Recorded, other: Recorded | undefined): boolean {
  if (other === undefined) return true;
  const [own, best] = [device, other].map(({ kind, peaks }) => ({
    isGpu: kind === 'cuda' && peaks.allocatedBytes.bytes > 0,
    bytes: peaks.allocatedBytes.bytes,
  }));
  if (own.isGpu !== best.isGpu) return own.isGpu;
  return own.bytes > best.bytes;
}

/** Beyond this much more than was ever allocated, active memory is mostly blocks that are freed and wait for a stream. */
const WAITING_RATIO = 1.5;

/**
 * The peak that a device is about: that of allocated memory, or of active memory where blocks that wait for another
 * stream make most of it.
 */
export function mainPeak({
  allocatedBytes,
  activeBytes,
}: Readonly<Record<'allocatedBytes' | 'activeBytes', Peak>>): MainPeak {
  return activeBytes.bytes >= WAITING_RATIO * allocatedBytes.bytes && allocatedBytes.bytes > 0
    ? { of: 'active', ...activeBytes }
    : { of: 'allocated', ...allocatedBytes };
}

export interface MainPeak extends Peak {
  readonly of: 'allocated' | 'active';
}

/** Nothing was recorded on the device and nothing is left on it: the process did not use it. */
export function isUnusedDevice(device: {
  readonly events: number;
  readonly segmentsAtEnd: number;
  readonly end: Pick<Counters, 'reservedBytes'>;
}): boolean {
  return device.events === 0 && device.segmentsAtEnd === 0 && device.end.reservedBytes === 0;
}
