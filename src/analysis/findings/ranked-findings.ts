/**
 * Findings in display order, with IDs for links. It must not import detectors: the empty page reads links and would
 * load all of them.
 */
import type { Finding } from './detectors.ts';
import { SEVERITIES } from './types.ts';

export interface RankedFinding extends Finding {
  /** The fingerprint, plus '#2' and so on if others have the same: OOMs at one line, ordered by event. */
  readonly id: string;
}

/** The most severe first, then the largest. */
export function rankFindings(findings: readonly Finding[]): RankedFinding[] {
  const seen = new Map<string, number>();
  const named = [...findings]
    .sort((a, b) => a.events.first - b.events.first)
    .map((finding): RankedFinding => {
      const count = (seen.get(finding.fingerprint) ?? 0) + 1;
      seen.set(finding.fingerprint, count);
      return {
        ...finding,
        id: count === 1 ? finding.fingerprint : `${finding.fingerprint}#${count}`,
      };
    });
  return named.sort(bySeverity);
}

export function bySeverity(a: Finding, b: Finding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.bytes - a.bytes;
}

/** Converts a link's old finding ID, 'churn|segments-retaken|train.py:step', to today's. */
export function findingIdOfLink(id: string): string {
  return id.replace(/^churn\|segments-retaken(?=[|#]|$)/, 'segment-thrashing|segment-thrashing');
}
