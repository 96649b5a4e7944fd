/** Limits for a comparison in CI: 'allocated:+2%' fails when B allocates over 2% more than A. */

import type { CounterName } from '../../allocator/replay/types.ts';
import { formatBytes, parseBytes } from '../../base/format.ts';
import type { ComparisonSide, Moment } from './side.ts';

/** What a counter is called in a gate. */
export const GATE_COUNTERS: Readonly<Record<string, CounterName>> = {
  requested: 'requestedBytes',
  allocated: 'allocatedBytes',
  active: 'activeBytes',
  reserved: 'reservedBytes',
  'inactive-split': 'inactiveSplitBytes',
};

export interface Gate {
  /** As it was written. */
  readonly text: string;
  readonly counter: CounterName;
  readonly limit: number;
  readonly unit: 'percent' | 'bytes';
}

export interface FailedGate {
  readonly gate: string;
  /** How much it is: '+3.4%', '+512.00 MiB'. */
  readonly is: string;
  readonly bytesA: number;
  readonly bytesB: number;
}

const GATE = /^([a-z-]+):\+?(\d[^%]*?)(%?)$/;

/** 'allocated:+2%', 'reserved:512MiB'. Undefined for anything else. */
export function parseGate(text: string): Gate | undefined {
  const match = GATE.exec(text.trim());
  const counter = match?.[1] === undefined ? undefined : GATE_COUNTERS[match[1]];
  if (match === null || counter === undefined) return undefined;
  const isPercent = match[3] === '%';
  const limit = isPercent ? Number(match[2]) : parseBytes(match[2] ?? '');
  if (limit === undefined || !Number.isFinite(limit)) return undefined;
  return { text: text.trim(), counter, limit, unit: isPercent ? 'percent' : 'bytes' };
}

/** Each counter at its own peak, or all at the end or at an event. */
export function gateBytes(side: ComparisonSide, counter: CounterName, at: Moment): number {
  return at === 'peak' ? side.peak[counter] : side.counters[counter];
}

/** Those that fail, in the order in which they were given. */
export function failedGates(
  a: ComparisonSide,
  b: ComparisonSide,
  gates: readonly Gate[],
  at: Moment,
): FailedGate[] {
  return gates.flatMap((gate) => {
    const [bytesA, bytesB] = [gateBytes(a, gate.counter, at), gateBytes(b, gate.counter, at)];
    const growth = bytesB - bytesA;
    if (gate.unit === 'bytes') {
      const failed = { gate: gate.text, is: `+${formatBytes(growth)}`, bytesA, bytesB };
      return growth > gate.limit ? [failed] : [];
    }
    // Of nothing any growth is more than every percentage.
    const percent = growth === 0 ? 0 : (100 * growth) / bytesA;
    if (percent <= gate.limit) return [];
    return [{ gate: gate.text, is: percentText(percent, gate.limit), bytesA, bytesB }];
  });
}

/** '+3.4%'; with more digits where that would read as the limit itself. */
function percentText(percent: number, limit: number): string {
  if (!Number.isFinite(percent)) return 'more than nothing';
  const short = percent.toFixed(1);
  return `+${Number(short) > limit ? short : percent.toPrecision(6)}%`;
}
