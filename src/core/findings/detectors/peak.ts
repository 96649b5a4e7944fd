/** What the highest moment is made of, and what would lower it. */

import { formatBytes } from '../../base/format.ts';
import { liveAt } from '../../replay/live-at.ts';
import type { AllocationIndex, Peak } from '../../replay/types.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { evidence, fingerprint, place } from '../finding-parts.ts';
import { frameLocation, percent } from '../labels.ts';
import { sitePart, sumBySite } from '../live-sites.ts';
import { peakRemedies } from '../peak-advice.ts';
import { type ClassSum, classesAt } from '../peak-classes.ts';
import type { DetectorResult, Fact, Finding } from '../types.ts';

/** Lower peaks trouble no GPU. */
const MIN_BYTES = 64 * 2 ** 20;
const TOP_PARTS = 10;
/** A big piece, as a share of the peak. */
const BIG_SHARE = 0.01;

export function detectPeak(study: AnalysisContext): DetectorResult {
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
  return { status: 'found', findings: [toFinding(study, allocatedBytes)] };
}

function toFinding(study: AnalysisContext, { event, bytes }: Peak): Finding {
  const { allocations } = study.input.replay;
  const classes = classesAt(study, event);
  const live = liveAt(allocations, event);
  const sites = sumBySite(study, live).slice(0, TOP_PARTS);
  const last = lastBigPiece(study, live, bytes);
  const stack = allocations.stack[last];
  const where = place(study, stack);
  const remedies = peakRemedies(classes, bytes);
  const who = study.traits.isBackward(stack) ? 'backward' : frameLocation(where.frame);
  return {
    detector: 'peak',
    kind: 'composition',
    severity: 'low',
    bytes,
    claim: `At its highest ${formatBytes(bytes)} was allocated: ${mixText(classes, bytes)}. The last big piece was ${formatBytes(allocations.sizeBytes[last])} from ${who}.${beforeTrace(study, event)}`,
    ...where,
    perStep: undefined,
    events: { first: event, last: event },
    parts: sites.map((site) => sitePart(study, site, 'alive at the peak')),
    facts: classes.flatMap(({ label, rule, bytes: own }): Fact[] => [
      { label, bytes: own },
      { label: `${label}: rule`, text: rule },
    ]),
    evidence: evidence(
      study,
      live,
      sites.map((site) => site.stack),
    ),
    series: undefined,
    advice: remedies.map(({ text }) => text),
    remedies,
    disproof:
      'Classes are inferred from stacks and lifetimes; a recording with stacks="all" shows more of backward.',
    fingerprint: fingerprint(study, 'peak', 'composition', stack),
  };
}

/** 'activations 3.20 GiB (61 %), parameters 1.10 GiB (21 %)': those of a hundredth and more. */
function mixText(classes: readonly ClassSum[], peakBytes: number): string {
  return classes
    .filter(({ bytes }) => bytes >= peakBytes / 100)
    .map(({ label, bytes }) => `${label} ${formatBytes(bytes)} (${percent(bytes / peakBytes)})`)
    .join(', ');
}

function lastBigPiece(
  study: AnalysisContext,
  live: Int32Array,
  peakBytes: number,
): AllocationIndex {
  const { sizeBytes } = study.input.replay.allocations;
  for (let i = live.length - 1; i >= 0; i--) {
    if (sizeBytes[live[i]] >= BIG_SHARE * peakBytes) return live[i];
  }
  return live[live.length - 1];
}

function beforeTrace({ input }: AnalysisContext, event: EventIndex): string {
  return event < 0 ? ` It was so before the first event: ${input.replay.recordingReason}` : '';
}
