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

/** The highest reserved beyond the highest active, at whatever moment each stood there. */
export interface ReservedOverhead {
  readonly bytes: number;
  /** Of the reserved peak. */
  readonly share: number;
  /** 'none': gaps that every program has. */
  readonly severity: 'high' | 'medium' | 'low' | 'none';
}

const MIN_SHARE = 1 / 3;
const MIN_BYTES = 128 * 2 ** 20;
const SEVERE_SHARE = 0.45;
const SEVERE_BYTES = 2 ** 30;

/** 15.86 GiB reserved, at most 5.36 GiB active: 10.50 GiB, 66%, high. @param ooms that were recorded, retried ones too */
export function reservedOverhead(
  { reservedBytes, activeBytes }: Readonly<Record<'reservedBytes' | 'activeBytes', Peak>>,
  ooms: number,
): ReservedOverhead {
  const bytes = reservedBytes.bytes - activeBytes.bytes;
  const share = reservedBytes.bytes > 0 ? bytes / reservedBytes.bytes : 0;
  return { bytes, share, severity: severityOf(bytes, share, ooms) };
}

function severityOf(bytes: number, share: number, ooms: number): ReservedOverhead['severity'] {
  if (share < MIN_SHARE || bytes < MIN_BYTES) return 'none';
  if (ooms > 0 || (share >= SEVERE_SHARE && bytes >= SEVERE_BYTES)) return 'high';
  return bytes >= SEVERE_BYTES / 2 ? 'medium' : 'low';
}
