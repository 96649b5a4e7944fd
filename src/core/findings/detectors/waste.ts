/** Bytes that are allocated and that nobody asked for: rounding, remainders that were not split off, small segments. */
import { formatBytes, formatPercent } from '../../base/format.ts';
import { liveAt } from '../../replay/live-at.ts';
import type { AllocationIndex } from '../../replay/types.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import {
  cannotTell,
  clear,
  evidence,
  fingerprint,
  locationOf,
  locationText,
  type SiteSum,
  SiteSums,
  sitePart,
} from '../finding-parts.ts';
import { segmentsAt } from '../segment-state.ts';
import type { Detector, DetectorResult, FindingBy } from '../types.ts';

export const waste = {
  id: 'waste',
  about: 'bytes that are allocated but were never requested',
  titles: { rounding: 'Rounding' },
  bytesAre: 'at the peak',
  band: { style: 'peak', label: 'peak' },
  evidenceSearch: 'line',
  checklist: [{ order: 140, label: 'Rounding' }],
} as const satisfies Detector;
type WasteFinding = FindingBy<typeof waste>;

const MIN_SHARE = 0.05;
const MIN_BYTES = 32 * 2 ** 20;
const SEVERE_SHARE = 0.2;
const TOP_PARTS = 8;

/** What was wasted at one moment. */
interface Waste {
  readonly event: EventIndex;
  /** Rounding and remainders: blocks less what was asked for. */
  readonly lostBytes: number;
  /** Blocks whose requested size is not recorded. */
  readonly unknownBytes: number;
  /** Who lost it, the most first, and by which allocations. */
  readonly sites: readonly SiteSum[];
  readonly allocations: readonly AllocationIndex[];
  /** Small segments in use, and what is free in them. */
  readonly smallBytes: number;
  readonly smallFreeBytes: number;
}

export function detectWaste(context: AnalysisContext): DetectorResult<WasteFinding> {
  if (!context.hasTrace) {
    return cannotTell('The file has no trace, so there is no peak to look at.');
  }
  const { event, bytes: peakBytes } = context.input.replay.peaks.allocatedBytes;
  const wasted = measureWaste(context, event);
  if (wasted.unknownBytes > peakBytes / 2) {
    return cannotTell(
      `Of ${formatBytes(wasted.unknownBytes)} at the peak, the requested size is not recorded.`,
    );
  }
  const bytes = wasted.lostBytes + wasted.smallFreeBytes;
  const share = bytes / Math.max(1, peakBytes);
  if (bytes < MIN_BYTES || share < MIN_SHARE) {
    return clear(`At the peak ${figures(wasted)}.`);
  }
  return { status: 'found', findings: [toFinding(context, wasted, bytes, share)] };
}

function measureWaste(context: AnalysisContext, event: EventIndex): Waste {
  const { allocations } = context.input.replay;
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
  const small = segmentsAt(context, event).filter(
    ({ isSmall, live }) => isSmall && live.length > 0,
  );
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

function toFinding(
  context: AnalysisContext,
  wasted: Waste,
  bytes: number,
  share: number,
): WasteFinding {
  const { event, lostBytes, smallFreeBytes, allocations } = wasted;
  const sites = wasted.sites.slice(0, TOP_PARTS);
  const where = locationOf(context, sites[0]?.stack);
  return {
    detector: 'waste',
    kind: 'rounding',
    severity: share >= SEVERE_SHARE ? 'medium' : 'low',
    bytes,
    claim: `At the peak ${figures(wasted)}: together ${formatPercent(share)} of what was allocated. ${locationText(where.frame)} loses the most.`,
    ...where,
    events: { first: event, last: event },
    parts: sites.map((site) => sitePart(context, site, 'lost to rounding and remainders')),
    facts: [
      { label: 'rounding and remainders', bytes: lostBytes },
      { label: 'empty in small segments', bytes: smallFreeBytes },
    ],
    evidence: evidence(context, allocations, sites),
    advice: [
      'Keep many small tensors as one: each takes at least 512 bytes, and a 2 MiB segment stays while one of them lives.',
      'Where roundup_power2_divisions is set, a higher number wastes less; where large blocks keep remainders, expandable_segments:True splits them.',
    ],
    disproof: 'The reserved peak stays the same without these tensors.',
    fingerprint: fingerprint(context, 'waste', 'rounding', sites[0]?.stack),
  };
}
