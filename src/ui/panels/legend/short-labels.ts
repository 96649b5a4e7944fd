import { countOne } from '../../../base/collections.ts';

/**
 * Labels of call sites for a row with little room, each as short as it can be while it differs from all others: only
 * 'model.py:84' if no other site is on that line, else with what it called, else with its caller, else whole.
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const forms = labels.map(formsOf);
  const counts = new Map<string, number>();
  for (const form of forms.flatMap((own) => [...new Set(own)])) countOne(counts, form);
  return labels.map((label, at) => forms[at]?.find((form) => counts.get(form) === 1) ?? label);
}

/** The shortest first. Text without a line is whole in any case. */
function formsOf(label: string): readonly string[] {
  const [, place, rest, caller] = /^(.*?:\d+)(.*?)( · called from .*)?$/s.exec(label) ?? [];
  return place === undefined
    ? [label]
    : [place, `${place}${rest}`, `${place}${caller ?? ''}`, label];
}
