/**
 * Findings in display order, with IDs for links. It must not import detectors: the empty page reads links and would
 * load all of them.
 */
import { countOne } from '../../base/collections.ts';
import type { Finding } from './detectors.ts';
import { SEVERITIES } from './types.ts';

export interface RankedFinding extends Finding {
  /** The fingerprint, plus '#2' and so on if others have the same: OOMs at one line, ordered by event. */
  readonly id: string;
  /** The name of its blocks in a search: 'growth-1' for the first finding of its detector. */
  readonly part: string;
}

/** The most severe first, then the largest. */
export function rankFindings(findings: readonly Finding[]): RankedFinding[] {
  const seen = new Map<string, number>();
  const named = [...findings]
    .sort((a, b) => a.events.first - b.events.first)
    .map((finding) => {
      const count = countOne(seen, finding.fingerprint);
      return {
        ...finding,
        id: count === 1 ? finding.fingerprint : `${finding.fingerprint}#${count}`,
      };
    });
  const ranks = new Map<string, number>();
  return named.sort(bySeverity).map((finding) => {
    return { ...finding, part: `${finding.detector}-${countOne(ranks, finding.detector)}` };
  });
}

export function bySeverity(a: Finding, b: Finding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.bytes - a.bytes;
}

/** Converts a link's old finding ID, 'churn|segments-retaken|train.py:step', to today's. */
export function findingIdOfLink(id: string): string {
  return id.replace(/^churn\|segments-retaken(?=[|#]|$)/, 'segment-thrashing|segment-thrashing');
}
