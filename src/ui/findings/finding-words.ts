/** Names of what detectors look for, and of how grave it is. */
import type { DetectorId, Severity } from '../../core/findings/types.ts';

export const DETECTOR_LABELS: Readonly<Record<DetectorId, string>> = {
  growth: 'Growth',
  oom: 'Out of memory',
  fragmentation: 'Fragmentation',
  'no-grad': 'Inference mode',
  peak: 'Peak',
  'pending-free': 'Pending frees',
  churn: 'Segment churn',
  waste: 'Rounding',
};

export const SEVERITY_LABELS: Readonly<Record<Severity, string>> = {
  high: 'High',
  medium: 'Medium',
  low: 'Low',
};

/** 'kept-hook' → 'kept hook' */
export const kindText = (kind: string): string => kind.replaceAll('-', ' ');

/**
 * The first sentence, and what follows. 'a.py:3 (f) keeps 2 KiB. It is …': a stop within a name has no
 * blank behind it.
 */
export function splitSentence(text: string): readonly [first: string, rest: string] {
  const end = /[.:] (?=[A-Z0-9])/.exec(text);
  return end === null ? [text, ''] : [text.slice(0, end.index + 1), text.slice(end.index + 2)];
}
