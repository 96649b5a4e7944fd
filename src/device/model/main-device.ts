/**
 * Which device a snapshot is about. With one process per GPU, each rank writes a file with a trace for every device of
 * the machine: rank 3's file starts with three empty traces.
 */
import type { Counters, Peak, Recording } from '../../allocator/replay/types.ts';
import { formatBytes, lowerBound } from '../../base/format.ts';

interface Recorded {
  readonly kind: 'cuda' | 'host';
  readonly peaks: { readonly allocatedBytes: Peak };
}

/** Index of the device with the highest peak of allocated bytes; pinned host memory only if no GPU has any. */
export function mainDeviceIndex(devices: readonly Recorded[]): number {
  const bytes = devices.map(({ peaks }) => peaks.allocatedBytes.bytes);
  const isGpu = devices.map(({ kind }, i) => Number(kind === 'cuda' && bytes[i] > 0));
  const [main = 0] = [...devices.keys()].sort((a, b) => isGpu[b] - isGpu[a] || bytes[b] - bytes[a]);
  return main;
}

/**
 * If peak active memory exceeds peak allocated memory by this ratio, it is mostly freed blocks waiting for a stream.
 */
const WAITING_RATIO = 1.5;

/** The peak to report: of allocated memory, or of active memory if most of it is blocks waiting for another stream. */
export function mainPeak({
  allocatedBytes,
  activeBytes,
}: Readonly<Record<'allocatedBytes' | 'activeBytes', Peak>>): MainPeak {
  return activeBytes.bytes >= WAITING_RATIO * allocatedBytes.bytes && allocatedBytes.bytes > 0
    ? { of: 'active', ...activeBytes }
    : { of: 'allocated', ...allocatedBytes };
}

/** '2.05 GiB'; '≥ 2.05 GiB' if the recording lacks the start of the process: memory may have been higher then. */
export const peakText = (bytes: number, recording: Recording | undefined): string =>
  lowerBound(formatBytes(bytes), recording !== undefined && recording !== 'complete');

export interface MainPeak extends Peak {
  readonly of: 'allocated' | 'active';
}

/** Nothing was recorded or left on the device: the process did not use it. */
export function isUnusedDevice(device: {
  readonly events: number;
  readonly segmentsAtEnd: number;
  readonly end: Pick<Counters, 'reservedBytes'>;
}): boolean {
  return device.events === 0 && device.segmentsAtEnd === 0 && device.end.reservedBytes === 0;
}

const MIN_SHARE = 1 / 3;
const MIN_BYTES = 128 * 2 ** 20;
const SEVERE_SHARE = 0.45;
const SEVERE_BYTES = 2 ** 30;

/**
 * Peak reserved minus peak active memory, each at its own moment, and its share of the reserved peak.
 * Example: 15.86 GiB reserved, at most 5.36 GiB active: 10.50 GiB, 66%, high.
 * @param ooms recorded OOMs, including retried ones
 */
export function reservedOverhead(
  { reservedBytes, activeBytes }: Readonly<Record<'reservedBytes' | 'activeBytes', Peak>>,
  ooms: number,
) {
  const bytes = reservedBytes.bytes - activeBytes.bytes;
  const share = reservedBytes.bytes > 0 ? bytes / reservedBytes.bytes : 0;
  return { bytes, share, severity: severityOf(bytes, share, ooms) };
}

/**
 * No request failed, the cache was never released for one, and what no tensor needed is what every program has: other
 * settings are an option, not a need.
 */
export const needsNoSetting = (
  { ooms, retries }: { readonly ooms: number; readonly retries: number },
  peaks: Parameters<typeof reservedOverhead>[0],
): boolean => ooms === 0 && retries === 0 && reservedOverhead(peaks, 0).severity === 'none';

/** 'none': gaps that every program has. */
type Severity = 'high' | 'medium' | 'low' | 'none';

function severityOf(bytes: number, share: number, ooms: number): Severity {
  if (share < MIN_SHARE || bytes < MIN_BYTES) return 'none';
  if (ooms > 0 || (share >= SEVERE_SHARE && bytes >= SEVERE_BYTES)) return 'high';
  return bytes >= SEVERE_BYTES ? 'medium' : 'low';
}
