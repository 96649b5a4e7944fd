/** `vramscope compare --json`: the contract `vramscope.compare/1`. */

import type { Moment, RunProfile } from '../../analysis/compare/run-profile.ts';
import { type FailedThreshold, thresholdBytes } from '../../analysis/compare/thresholds.ts';
import type { CallSiteChange, Cause, Comparison } from '../../analysis/compare/types.ts';
import { frameReport } from '../../device/model/frame-text.ts';
import { fileReport } from './stats.ts';

const causeReport = ({ bytes, isExplained, text, entries }: Cause) => ({
  ...{ bytes, isExplained, text },
  entries: entries.map(({ lines, rate, ...entry }) => ({
    ...entry,
    lines: lines.flatMap((line) => frameReport(line) ?? []),
    /** Of what is kept and still grew, on the side that has more. */
    perStep: rate ?? null,
  })),
});

export const buildComparison = (
  { a, b, differenceBytes, sites, classes, causes, settings, verdict }: Comparison,
  at: Moment,
  failed: readonly FailedThreshold[],
) => ({
  schema: 'vramscope.compare/1' as const,
  a: sideReport(a),
  b: sideReport(b),
  difference: {
    allocatedBytes: differenceBytes,
    /** Of both peaks, or at the end where both are compared there. */
    reservedBytes: thresholdBytes(b, 'reservedBytes', at) - thresholdBytes(a, 'reservedBytes', at),
  },
  /** Those that changed, the largest change first; the differences add up to that of the allocated bytes. */
  callSites: sites.filter((site) => site.differenceBytes !== 0).map(siteReport),
  classes,
  /** The one that explains most first; they add up to the difference of the allocated bytes too. */
  causes: causes.map(causeReport),
  settings,
  verdict,
  failed: failed.map(({ gate, is }) => ({ gate, is })),
});

/** `frame`: the line in B, or in A where B does not have it. null: no stack was recorded. */
const siteReport = (site: CallSiteChange) => ({
  kind: site.kind,
  class: site.class,
  frame: frameReport((site.b ?? site.a)?.frame),
  frameA: frameReport(site.a?.frame),
  frameB: frameReport(site.b?.frame),
  bytesA: site.bytesA,
  bytesB: site.bytesB,
  differenceBytes: site.differenceBytes,
  countA: site.countA,
  countB: site.countB,
});

export const sideReport = ({ file, device, event, counters, peak }: RunProfile) => ({
  file: fileReport(file),
  device,
  event,
  allocatedBytes: counters.allocatedBytes,
  peak,
});
