/** How severe findings are, and which part of their texts is said first. */
import type { Severity } from '../../core/findings/types.ts';

export const SEVERITY_LABELS: Readonly<Record<Severity, string>> = {
  high: 'High',
  medium: 'Medium',
  low: 'Low',
};

/** 'a.py:3 (f) keeps 2 KiB. It is …' says 'a.py:3 (f) keeps 2 KiB.': a stop within a name has no blank behind it. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}

/** What is said first, up to a stop or a colon, and what follows. '6 GiB was reserved: 3 GiB was lost.' */
export function splitSentence(text: string): readonly [first: string, rest: string] {
  const end = /[.:] (?=[A-Z0-9])/.exec(text);
  return end === null ? [text, ''] : [text.slice(0, end.index + 1), text.slice(end.index + 2)];
}
