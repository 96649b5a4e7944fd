/** Blocks that were freed but have to wait because another stream may still use them. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { cannotTell, clear, findingOf, series, sumBySite } from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { adviceFor } from '../verdict/remedies.ts';

export const pendingFree = {
  id: 'pending-free',
  about: 'freed blocks that have to wait for another stream',
  titles: { 'record-stream': 'Waiting for a stream' },
  bytesAre: 'at its highest',
  band: { style: 'pending', label: 'waits for a stream' },
  evidenceSearch: 'pending',
} as const satisfies Detector;
type PendingFreeFinding = FindingBy<typeof pendingFree>;

const MIN_SHARE = 0.05;
const MIN_BYTES = 16 * 2 ** 20;
const SEVERE_SHARE = 0.25;

export function detectPendingFree(context: AnalysisInput): DetectorResult<PendingFreeFinding> {
  const reason = whyUnknown(context);
  if (reason !== undefined) return cannotTell(reason);
  const highest = highestPending(context);
  const { bytes } = highest;
  const share = bytes / Math.max(1, context.input.replay.peaks.activeBytes.bytes);
  if (bytes < MIN_BYTES || share < MIN_SHARE) {
    return clear(
      `At most ${formatBytes(bytes)} waited for a stream before it could be used again.`,
    );
  }
  return { status: 'found', findings: [toFinding(context, highest, share)] };
}

function whyUnknown({ hasTrace, input }: AnalysisInput): string | undefined {
  if (!hasTrace) {
    return 'The file has no trace, so it does not say when frees were requested and when they completed.';
  }
  const { action } = input.trace.events;
  const isUnrequested =
    action.includes(TraceAction.FreeCompleted) && !action.includes(TraceAction.FreeRequested);
  return isUnrequested ? 'free_requested events were not recorded (skip_actions).' : undefined;
}

function toFinding(
  context: AnalysisInput,
  { bytes, event, curve }: Pending,
  share: number,
): PendingFreeFinding {
  const { freeRequested } = context.input.replay.allocations;
  const waiting = waitingAt(context, event);
  const delayed = delayedCount(context);
  const sites = sumBySite(context, waiting);
  return findingOf(context, {
    detector: 'pending-free',
    kind: 'record-stream',
    severity: share >= SEVERE_SHARE ? 'medium' : 'low',
    bytes,
    stack: sites[0]?.stack,
    frameIs: 'allocated at',
    claim: (where) =>
      `${formatBytes(bytes)} (${formatPercent(share)} of the peak in use) had been freed by the program and could not be used again yet: ${plural(delayed, 'free')} waited for another stream. Most of it was allocated by ${where}.`,
    events: { first: lowest(waiting.map((id) => freeRequested[id])), last: event },
    sites,
    note: 'waiting at the worst moment',
    ids: waiting,
    facts: [
      { label: 'frees that waited', count: delayed },
      { label: 'worst at event', count: event },
    ],
    series: series('event', 'bytes waiting', curve.events, curve.bytes),
    advice: adviceFor('pending-free'),
    disproof:
      'Peak memory does not fall when record_stream is taken out: then the blocks would have been in use anyway.',
  });
}

function waitingAt({ input }: AnalysisInput, event: EventIndex): AllocationIndex[] {
  const { start, freeRequested, end, length } = input.replay.allocations;
  const waiting: AllocationIndex[] = [];
  for (let id = 0; id < length && start[id] <= event; id++) {
    if (freeRequested[id] <= event && end[id] > event) waiting.push(id);
  }
  return waiting;
}

function delayedCount(context: AnalysisInput): number {
  let count = 0;
  for (let id = 0; id < context.input.replay.allocations.length; id++) {
    if (isDelayed(context, id)) count++;
  }
  return count;
}

/** Without other streams, free_completed follows free_requested immediately. */
function isDelayed({ input }: AnalysisInput, id: AllocationIndex): boolean {
  const { freeRequested, end } = input.replay.allocations;
  return freeRequested[id] !== NEVER && freeRequested[id] >= 0 && end[id] - freeRequested[id] > 1;
}

/** The moment when most bytes waited, and the waiting bytes after each event that changed them. */
interface Pending {
  readonly bytes: number;
  readonly event: EventIndex;
  readonly curve: { readonly events: readonly EventIndex[]; readonly bytes: readonly number[] };
}

function highestPending(context: AnalysisInput): Pending {
  const { trace, replay } = context.input;
  const { action } = trace.events;
  const { allocationOfEvent, allocations: table } = replay;
  let pending = 0;
  let most = { bytes: 0, event: 0 };
  const curve: { events: EventIndex[]; bytes: number[] } = { events: [], bytes: [] };
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (id < 0 || action[t] === TraceAction.Alloc || !isDelayed(context, id)) continue;
    pending += action[t] === TraceAction.FreeRequested ? table.sizeBytes[id] : -table.sizeBytes[id];
    if (pending > most.bytes) most = { bytes: pending, event: t };
    curve.events.push(t);
    curve.bytes.push(pending);
  }
  return { ...most, curve };
}
