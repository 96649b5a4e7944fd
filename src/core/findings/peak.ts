/** What the highest moment is made of, and what would lower it. */

import { formatBytes } from '../base/format.ts';
import { liveAt } from '../replay/live-at.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import { evidence, fingerprint, place } from './finding-parts.ts';
import { sitePart, sumBySite } from './live-sites.ts';
import { peakRemedies } from './peak-advice.ts';
import { classesAt } from './peak-classes.ts';
import type { Study } from './study.ts';
import type { DetectorResult, Fact } from './types.ts';
import { percent, placeOf } from './words.ts';

/** Lower peaks trouble no GPU. */
const MIN_BYTES = 64 * 2 ** 20;
const TOP_PARTS = 10;
/** A big piece, as a share of the peak. */
const BIG_SHARE = 0.01;

export function detectPeak(study: Study): DetectorResult {
  const { replay } = study.input;
  const { allocatedBytes } = replay.peaks;
  if (!study.hasTrace) {
    return {
      status: 'cannot-tell',
      reason: `The file has no trace: ${formatBytes(replay.end.allocatedBytes)} at the end is all that is known, and the peak was that or more.`,
    };
  }
  if (allocatedBytes.bytes < MIN_BYTES) {
    return {
      status: 'clear',
      checked: `At most ${formatBytes(allocatedBytes.bytes)} was allocated.`,
    };
  }
  const { event, bytes } = allocatedBytes;
  const classes = classesAt(study, event);
  const live = liveAt(replay.allocations, event);
  const sites = sumBySite(study, live);
  const last = lastBigPiece(study, live, bytes);
  const stack = replay.allocations.stack[last];
  const where = place(study, stack);
  const mix = classes
    .filter((c) => c.bytes >= bytes / 100)
    .map((c) => `${c.label} ${formatBytes(c.bytes)} (${percent(c.bytes / bytes)})`)
    .join(', ');
  const remedies = peakRemedies(classes, bytes);
  const who = study.traits.isBackward(stack) ? 'backward' : placeOf(where.frame);
  return {
    status: 'found',
    findings: [
      {
        detector: 'peak',
        kind: 'composition',
        severity: 'low',
        bytes,
        claim: `At its highest ${formatBytes(bytes)} was allocated: ${mix}. The last big piece was ${formatBytes(replay.allocations.sizeBytes[last])} from ${who}.${beforeTrace(study, event)}`,
        ...where,
        perStep: undefined,
        events: { first: event, last: event },
        parts: sites.slice(0, TOP_PARTS).map((site) => sitePart(study, site, 'alive at the peak')),
        facts: classes.flatMap(({ label, rule, bytes: own }): Fact[] => [
          { label, bytes: own },
          { label: `${label}: rule`, text: rule },
        ]),
        evidence: evidence(
          study,
          live,
          sites.slice(0, TOP_PARTS).map((site) => site.stack),
        ),
        series: undefined,
        advice: remedies.map(({ text }) => text),
        remedies,
        disproof:
          'Classes are inferred from stacks and lifetimes; a recording with stacks="all" shows more of backward.',
        fingerprint: fingerprint(study, 'peak', 'composition', stack),
      },
    ],
  };
}

function lastBigPiece(study: Study, live: Int32Array, peakBytes: number): AllocationIndex {
  const { sizeBytes } = study.input.replay.allocations;
  for (let i = live.length - 1; i >= 0; i--) {
    if (sizeBytes[live[i]] >= BIG_SHARE * peakBytes) return live[i];
  }
  return live[live.length - 1];
}

function beforeTrace({ input }: Study, event: EventIndex): string {
  return event < 0 ? ` It was so before the first event: ${input.replay.recordingReason}` : '';
}
