/**
 * Findings in the order in which they are shown, with names for links. It knows no detector by value: the empty page, which
 * reads links, would load all of them.
 */
import type { Finding } from './detectors.ts';
import { SEVERITIES } from './types.ts';

/** With a name of its own for the URL. */
export interface RankedFinding extends Finding {
  /** The fingerprint; with '#2' and so on where others have the same: OOMs of one line, by event. */
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

/** For sorting: the most severe first, of equally severe ones the one of most bytes. */
export function bySeverity(a: Finding, b: Finding): number {
  return SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.bytes - a.bytes;
}

/**
 * The id that a finding has today, of an id in a link: links of before segment thrashing got its name call it
 * 'churn|segments-retaken|train.py:step'.
 */
export function findingIdOfLink(id: string): string {
  return id.replace(/^churn\|segments-retaken(?=[|#]|$)/, 'segment-thrashing|segment-thrashing');
}
