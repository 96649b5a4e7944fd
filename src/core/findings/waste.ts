/** Bytes that are allocated and that nobody asked for: rounding, remainders that were not split off, small segments. */

import { formatBytes } from '../base/format.ts';
import { liveAt } from '../replay/live-at.ts';
import { segmentsAt } from './address-state.ts';
import { evidence, fingerprint, place } from './finding-parts.ts';
import type { Study } from './study.ts';
import type { DetectorResult, FindingPart } from './types.ts';
import { percent, placeOf } from './words.ts';

const MIN_SHARE = 0.05;
const MIN_BYTES = 32 * 2 ** 20;
const GRAVE_SHARE = 0.2;
const TOP_PARTS = 8;

export function detectWaste(study: Study): DetectorResult {
  const { replay } = study.input;
  if (!study.hasTrace)
    return {
      status: 'cannot-tell',
      reason: 'The file has no trace, so there is no peak to look at.',
    };
  const { event, bytes: peakBytes } = replay.peaks.allocatedBytes;
  const { requestedBytes, sizeBytes, stack } = replay.allocations;
  const sites = new Map<number, { bytes: number; count: number }>();
  const wasting: number[] = [];
  let wasted = 0;
  let unknown = 0;
  for (const id of liveAt(replay.allocations, event)) {
    if (Number.isNaN(requestedBytes[id])) {
      unknown += sizeBytes[id];
      continue;
    }
    const lost = sizeBytes[id] - requestedBytes[id];
    wasted += lost;
    if (lost === 0) continue;
    wasting.push(id);
    const sum = sites.get(stack[id]) ?? { bytes: 0, count: 0 };
    sites.set(stack[id], sum);
    sum.bytes += lost;
    sum.count++;
  }
  if (unknown > peakBytes / 2) {
    return {
      status: 'cannot-tell',
      reason: `Of ${formatBytes(unknown)} at the peak it is not recorded how much was asked for.`,
    };
  }
  const small = segmentsAt(study, event).filter(
    (segment) => segment.isSmall && segment.live.length > 0,
  );
  const smallBytes = small.reduce((sum, { sizeBytes: own }) => sum + own, 0);
  const smallFree = small.reduce((sum, { freeBytes }) => sum + freeBytes, 0);
  const total = wasted + smallFree;
  const share = total / Math.max(1, peakBytes);
  const figures = `${formatBytes(wasted)} went to rounding and remainders, ${formatBytes(smallFree)} of ${formatBytes(smallBytes)} in small segments was empty`;
  if (total < MIN_BYTES || share < MIN_SHARE) {
    return { status: 'clear', checked: `At the peak ${figures}.` };
  }
  const parts = [...sites]
    .map(
      ([site, { bytes, count }]): FindingPart => ({
        stack: site,
        frame: study.input.stacks.topUserFrameView(site),
        bytes,
        count,
        note: 'lost to rounding and remainders',
      }),
    )
    .sort((a, b) => b.bytes - a.bytes);
  const where = place(study, parts[0]?.stack);
  return {
    status: 'found',
    findings: [
      {
        detector: 'waste',
        kind: 'rounding',
        severity: share >= GRAVE_SHARE ? 'medium' : 'low',
        bytes: total,
        claim: `At the peak ${figures}: together ${percent(share)} of what was allocated. ${placeOf(where.frame)} loses the most.`,
        ...where,
        perStep: undefined,
        events: { first: event, last: event },
        parts: parts.slice(0, TOP_PARTS),
        facts: [
          { label: 'rounding and remainders', bytes: wasted },
          { label: 'empty in small segments', bytes: smallFree },
        ],
        evidence: evidence(
          study,
          wasting,
          parts.slice(0, TOP_PARTS).map(({ stack: site }) => site),
        ),
        series: undefined,
        advice: [
          'Keep many small tensors as one: each takes at least 512 bytes, and a 2 MiB segment stays while one of them lives.',
          'Where roundup_power2_divisions is set, a higher number wastes less; where large blocks keep remainders, expandable_segments:True splits them.',
        ],
        disproof: 'The reserved peak stays the same without these tensors.',
        fingerprint: fingerprint(study, 'waste', 'rounding', parts[0]?.stack),
      },
    ],
  };
}
