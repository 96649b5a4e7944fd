/** Limits for a comparison in CI: 'allocated:+2%' fails if B allocates over 2% more than A. */

import type { CounterName } from '../../allocator/replay/types.ts';
import { formatBytes, parseBytes } from '../../base/format.ts';
import type { Moment, RunProfile } from './types.ts';

export const THRESHOLD_COUNTERS: Readonly<Record<string, CounterName>> = {
  requested: 'requestedBytes',
  allocated: 'allocatedBytes',
  active: 'activeBytes',
  reserved: 'reservedBytes',
  'inactive-split': 'inactiveSplitBytes',
};

export interface Threshold {
  /** As written by the user. */
  readonly text: string;
  readonly counter: CounterName;
  readonly limit: number;
  readonly unit: 'percent' | 'bytes';
}

export interface FailedThreshold {
  readonly gate: string;
  /** The increase: '+3.4%', '+512.00 MiB'. */
  readonly is: string;
  readonly bytesA: number;
  readonly bytesB: number;
}

const GATE = /^([a-z-]+):\+?(\d[^%]*?)(%?)$/;

/** 'allocated:+2%', 'reserved:512MiB'. Undefined for anything else. */
export function parseThreshold(text: string): Threshold | undefined {
  const match = GATE.exec(text.trim());
  const counter = match?.[1] === undefined ? undefined : THRESHOLD_COUNTERS[match[1]];
  if (match === null || counter === undefined) return undefined;
  const isPercent = match[3] === '%';
  const limit = isPercent ? Number(match[2]) : parseBytes(match[2] ?? '');
  if (limit === undefined || !Number.isFinite(limit)) return undefined;
  return { text: text.trim(), counter, limit, unit: isPercent ? 'percent' : 'bytes' };
}

/** At 'peak', each counter is taken at its own peak. */
export function thresholdBytes(side: RunProfile, counter: CounterName, at: Moment): number {
  return at === 'peak' ? side.peak[counter] : side.counters[counter];
}

export function failedThresholds(
  a: RunProfile,
  b: RunProfile,
  gates: readonly Threshold[],
  at: Moment,
): FailedThreshold[] {
  return gates.flatMap(({ text: gate, counter, limit, unit }) => {
    const [bytesA, bytesB] = [a, b].map((side) => thresholdBytes(side, counter, at));
    const growth = bytesB - bytesA;
    // From 0 bytes, any growth exceeds every percentage.
    const percent = growth === 0 ? 0 : (100 * growth) / bytesA;
    const isBytes = unit === 'bytes';
    if ((isBytes ? growth : percent) <= limit) return [];
    const is = isBytes ? `+${formatBytes(growth)}` : percentText(percent, limit);
    return [{ gate, is, bytesA, bytesB }];
  });
}

/** '+3.4%'; with more digits if that would look equal to the limit. */
function percentText(percent: number, limit: number): string {
  if (!Number.isFinite(percent)) return 'more than nothing';
  const short = percent.toFixed(1);
  return `+${Number(short) > limit ? short : percent.toPrecision(6)}%`;
}
