/** `vramscope compare --json`: the contract `vramscope.compare/1`. */

import { type FailedThreshold, thresholdBytes } from '../../analysis/compare/thresholds.ts';
import type {
  CallSiteChange,
  Cause,
  Comparison,
  Moment,
  RunProfile,
} from '../../analysis/compare/types.ts';
import { frameReport } from '../../device/model/frame-text.ts';
import { rateReport } from './findings.ts';
import { fileReport } from './stats.ts';

const causeReport = ({ bytes, isExplained, text, entries }: Cause) => ({
  ...{ bytes, isExplained, text },
  entries: entries.map(({ lines, rate, ...entry }) => ({
    ...entry,
    lines: lines.flatMap((line) => frameReport(line) ?? []),
    /** Of kept memory that still grew, on the side with more of it. */
    perStep: rate === undefined ? null : rateReport(rate),
  })),
});

export const buildComparison = (
  { a, b, differenceBytes, sites, classes, causes, settings, card, verdict }: Comparison,
  at: Moment,
  failed: readonly FailedThreshold[],
) => ({
  schema: 'vramscope.compare/1' as const,
  a: sideReport(a),
  b: sideReport(b),
  difference: {
    allocatedBytes: differenceBytes,
    /** Between the peaks, or at the end if the comparison is of the ends. */
    reservedBytes: thresholdBytes(b, 'reservedBytes', at) - thresholdBytes(a, 'reservedBytes', at),
  },
  /** Only changed sites, the largest change first. Their differences add up to that of the allocated bytes. */
  callSites: sites.filter((site) => site.differenceBytes !== 0).map(siteReport),
  classes,
  /** The one that explains most comes first. They also add up to the difference of the allocated bytes. */
  causes: causes.map(causeReport),
  settings,
  /** Both cards by kind of row; empty unless both files have a ledger. */
  card,
  verdict,
  failed: failed.map(({ gate, is }) => ({ gate, is })),
});

/** `frame` is the line in B, or in A if B lacks it; null if no stack was recorded. */
const siteReport = ({
  kind,
  class: of,
  a,
  b,
  sizesA: _,
  sizesB: __,
  ...change
}: CallSiteChange) => ({
  ...{ kind, class: of },
  frame: frameReport((b ?? a)?.frame),
  frameA: frameReport(a?.frame),
  frameB: frameReport(b?.frame),
  ...change,
});

export const sideReport = ({ file, device, event, counters, peak }: RunProfile) => ({
  file: fileReport(file),
  ...{ device, event, allocatedBytes: counters.allocatedBytes, peak },
});
