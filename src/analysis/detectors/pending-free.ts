/** Blocks that were freed but have to wait because another stream may still use them. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { cannotTell, clear, found, series, sumBySite } from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';

export const pendingFree = {
  id: 'pending-free',
  about: 'freed blocks that have to wait for another stream',
  titles: { 'record-stream': 'Waiting for a stream' },
  bytesAre: 'at its highest',
  highlight: { style: 'pending', label: 'waits for a stream' },
  evidenceSearch: 'pending',
} as const satisfies Detector;
type PendingFreeFinding = FindingBy<typeof pendingFree>;

const MIN_SHARE = 0.05;
const MIN_BYTES = 16 * 2 ** 20;
const SEVERE_SHARE = 0.25;

export function detectPendingFree(context: AnalysisInput): DetectorResult<PendingFreeFinding> {
  const { trace, replay } = context.input;
  const { action } = trace.events;
  if (action.includes(TraceAction.FreeCompleted) && !action.includes(TraceAction.FreeRequested))
    return cannotTell('free_requested events were not recorded (skip_actions).');
  const delayed = delayedFrees(context);
  const { bytes, event, curve } = highestPending(context, delayed);
  const share = bytes / Math.max(1, replay.peaks.activeBytes.bytes);
  if (bytes < MIN_BYTES || share < MIN_SHARE) {
    return clear(
      bytes === 0
        ? 'Nothing that was freed waited for a stream.'
        : `At most ${formatBytes(bytes)} waited for a stream before it could be used again.`,
    );
  }
  const { start, freeRequested, end } = replay.allocations;
  const waiting = [...start.keys()].filter(
    (id) => start[id] <= event && freeRequested[id] <= event && end[id] > event,
  );
  const sites = sumBySite(context, waiting);
  return found(context, {
    detector: 'pending-free',
    kind: 'record-stream',
    severity: share >= SEVERE_SHARE ? 'medium' : 'low',
    bytes,
    stack: sites[0]?.stack,
    frameIs: 'allocated at',
    claim: (where) =>
      `${formatBytes(bytes)} (${formatPercent(share)} of the peak in use) had been freed by the program and could not be used again yet: ${plural(delayed.size, 'free')} waited for another stream. Most of it was allocated by ${where}.`,
    events: { first: lowest(waiting.map((id) => freeRequested[id])), last: event },
    sites,
    note: 'waiting at the worst moment',
    ids: waiting,
    facts: [
      { label: 'frees that waited', count: delayed.size },
      { label: 'worst at event', count: event },
    ],
    series: series('event', 'bytes waiting', curve.events, curve.bytes),
    advice: adviceFor('pending-free'),
    disproof:
      'Peak memory does not fall when record_stream is taken out: then the blocks would have been in use anyway.',
  });
}

/** Without other streams, free_completed follows free_requested immediately. */
function delayedFrees({ input }: AnalysisInput): ReadonlySet<AllocationIndex> {
  const { freeRequested, end, length } = input.replay.allocations;
  const delayed = new Set<AllocationIndex>();
  for (let id = 0; id < length; id++) {
    const requested = freeRequested[id];
    if (requested !== NEVER && requested >= 0 && end[id] - requested > 1) delayed.add(id);
  }
  return delayed;
}

/** The moment when most bytes waited, and the waiting bytes after each event that changed them. */
function highestPending({ input }: AnalysisInput, delayed: ReadonlySet<AllocationIndex>) {
  const { action } = input.trace.events;
  const { allocationOfEvent, allocations: table } = input.replay;
  let pending = 0;
  let most = { bytes: 0, event: 0 };
  const curve: { events: EventIndex[]; bytes: number[] } = { events: [], bytes: [] };
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (action[t] === TraceAction.Alloc || !delayed.has(id)) continue;
    pending += action[t] === TraceAction.FreeRequested ? table.sizeBytes[id] : -table.sizeBytes[id];
    if (pending > most.bytes) most = { bytes: pending, event: t };
    curve.events.push(t);
    curve.bytes.push(pending);
  }
  return { ...most, curve };
}
