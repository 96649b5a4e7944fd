/** What findings are called, and how grave they are. */
import type { Finding, Severity } from '../../core/findings/types.ts';

/** By kind; detectors may have kinds that are not listed here, which are then called what they are. */
const TITLES: Readonly<Record<string, string>> = {
  'kept-graph': 'Growth: a kept graph',
  'kept-hook': 'Growth: kept by a hook',
  'kept-scalar': 'Growth: kept numbers',
  'kept-output': 'Growth: kept outputs',
  'kept-gradients': 'Growth: kept in backward',
  'kept-optimizer': 'Growth: optimizer state',
  'kept-tensor': 'Growth: kept tensors',
  'given-back-in-bursts': 'Piled up, freed at once',
  'reserved-unused': 'Fragmentation',
  'growing-concatenation': 'Growing concatenation',
  'graph-without-backward': 'Graph without backward',
  composition: 'What the peak is made of',
  'record-stream': 'Waiting for a stream',
  'segments-retaken': 'Segments taken again',
  rounding: 'Rounding',
};

export function titleOf({ detector, kind }: Pick<Finding, 'detector' | 'kind'>): string {
  if (detector === 'oom') return 'Out of memory';
  return TITLES[kind] ?? kind.replaceAll('-', ' ');
}

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
