/** Memory that PyTorch reserved and no tensor ever needed, of which the fragmentation check and the opening view speak. */
import type { Peak } from '../../allocator/replay/types.ts';

/** The highest reserved beyond the highest active, at whatever moment each stood there. */
export interface NeverNeeded {
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
export function neverNeeded(
  { reservedBytes, activeBytes }: Readonly<Record<'reservedBytes' | 'activeBytes', Peak>>,
  ooms: number,
): NeverNeeded {
  const bytes = reservedBytes.bytes - activeBytes.bytes;
  const share = reservedBytes.bytes > 0 ? bytes / reservedBytes.bytes : 0;
  return { bytes, share, severity: severityOf(bytes, share, ooms) };
}

function severityOf(bytes: number, share: number, ooms: number): NeverNeeded['severity'] {
  if (share < MIN_SHARE || bytes < MIN_BYTES) return 'none';
  if (ooms > 0 || (share >= SEVERE_SHARE && bytes >= SEVERE_BYTES)) return 'high';
  return bytes >= SEVERE_BYTES / 2 ? 'medium' : 'low';
}
