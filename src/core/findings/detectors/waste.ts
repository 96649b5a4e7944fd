/** Bytes that are allocated and that nobody asked for: rounding, remainders that were not split off, small segments. */

import { formatBytes } from '../../base/format.ts';
import { liveAt } from '../../replay/live-at.ts';
import type { AllocationIndex } from '../../replay/types.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import { segmentsAt } from '../address-state.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { evidence, fingerprint, place } from '../finding-parts.ts';
import { frameLocation, percent } from '../labels.ts';
import { type SiteSum, SiteSums, sitePart } from '../live-sites.ts';
import type { DetectorResult, Finding } from '../types.ts';

const MIN_SHARE = 0.05;
const MIN_BYTES = 32 * 2 ** 20;
const SEVERE_SHARE = 0.2;
const TOP_PARTS = 8;

/** What was wasted at one moment. */
interface Waste {
  readonly event: EventIndex;
  /** Rounding and remainders: blocks less what was asked for. */
  readonly lostBytes: number;
  /** Blocks of which it is not recorded how much was asked for. */
  readonly unknownBytes: number;
  /** Who lost it, the most first, and by which allocations. */
  readonly sites: readonly SiteSum[];
  readonly allocations: readonly AllocationIndex[];
  /** Small segments in use, and what is free in them. */
  readonly smallBytes: number;
  readonly smallFreeBytes: number;
}

export function detectWaste(study: AnalysisContext): DetectorResult {
  if (!study.hasTrace) {
    return {
      status: 'cannot-tell',
      reason: 'The file has no trace, so there is no peak to look at.',
    };
  }
  const { event, bytes: peakBytes } = study.input.replay.peaks.allocatedBytes;
  const waste = measure(study, event);
  if (waste.unknownBytes > peakBytes / 2) {
    return {
      status: 'cannot-tell',
      reason: `Of ${formatBytes(waste.unknownBytes)} at the peak it is not recorded how much was asked for.`,
    };
  }
  const bytes = waste.lostBytes + waste.smallFreeBytes;
  const share = bytes / Math.max(1, peakBytes);
  if (bytes < MIN_BYTES || share < MIN_SHARE) {
    return { status: 'clear', checked: `At the peak ${figures(waste)}.` };
  }
  return { status: 'found', findings: [toFinding(study, waste, bytes, share)] };
}

function measure(study: AnalysisContext, event: EventIndex): Waste {
  const { allocations } = study.input.replay;
  const { requestedBytes, sizeBytes, stack } = allocations;
  const sites = new SiteSums();
  const wasting: AllocationIndex[] = [];
  let lostBytes = 0;
  let unknownBytes = 0;
  for (const id of liveAt(allocations, event)) {
    if (Number.isNaN(requestedBytes[id])) {
      unknownBytes += sizeBytes[id];
      continue;
    }
    const lost = sizeBytes[id] - requestedBytes[id];
    if (lost === 0) continue;
    lostBytes += lost;
    wasting.push(id);
    sites.add(stack[id], lost);
  }
  const small = segmentsAt(study, event).filter(({ isSmall, live }) => isSmall && live.length > 0);
  return {
    event,
    lostBytes,
    unknownBytes,
    sites: sites.largestFirst(),
    allocations: wasting,
    smallBytes: small.reduce((sum, { sizeBytes: own }) => sum + own, 0),
    smallFreeBytes: small.reduce((sum, { freeBytes }) => sum + freeBytes, 0),
  };
}

const figures = ({ lostBytes, smallFreeBytes, smallBytes }: Waste): string =>
  `${formatBytes(lostBytes)} went to rounding and remainders, ${formatBytes(smallFreeBytes)} of ${formatBytes(smallBytes)} in small segments was empty`;

function toFinding(study: AnalysisContext, waste: Waste, bytes: number, share: number): Finding {
  const { event, lostBytes, smallFreeBytes, allocations } = waste;
  const sites = waste.sites.slice(0, TOP_PARTS);
  const where = place(study, sites[0]?.stack);
  return {
    detector: 'waste',
    kind: 'rounding',
    severity: share >= SEVERE_SHARE ? 'medium' : 'low',
    bytes,
    claim: `At the peak ${figures(waste)}: together ${percent(share)} of what was allocated. ${frameLocation(where.frame)} loses the most.`,
    ...where,
    perStep: undefined,
    events: { first: event, last: event },
    parts: sites.map((site) => sitePart(study, site, 'lost to rounding and remainders')),
    facts: [
      { label: 'rounding and remainders', bytes: lostBytes },
      { label: 'empty in small segments', bytes: smallFreeBytes },
    ],
    evidence: evidence(
      study,
      allocations,
      sites.map(({ stack }) => stack),
    ),
    series: undefined,
    advice: [
      'Keep many small tensors as one: each takes at least 512 bytes, and a 2 MiB segment stays while one of them lives.',
      'Where roundup_power2_divisions is set, a higher number wastes less; where large blocks keep remainders, expandable_segments:True splits them.',
    ],
    disproof: 'The reserved peak stays the same without these tensors.',
    fingerprint: fingerprint(study, 'waste', 'rounding', sites[0]?.stack),
  };
}
