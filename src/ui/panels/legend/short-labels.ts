import { countOne } from '../../../base/collections.ts';

/**
 * Labels of call sites for a row with little room, each as short as it can be while it differs from all others: only
 * 'model.py:84' if no other site is on that line, else with what it called, else with its caller, else with both.
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const forms = labels.map(formsOf);
  const counts = new Map<string, number>();
  for (const form of forms.flatMap((own) => [...new Set(own)])) countOne(counts, form);
  return labels.map((label, at) => forms[at]?.find((form) => counts.get(form) === 1) ?? label);
}

/** The shortest first. Text without a line is whole, but for what is in brackets: 'MulBackward0 (backward pass)'. */
function formsOf(label: string): readonly string[] {
  const [, place, rest = '', caller = ''] =
    /^(.*?:\d+)(.*?)( · called from .*)?$/s.exec(label) ?? [];
  if (place === undefined) return [label.replace(/ \(.*\)$/, ''), label];
  // Where PyTorch's function is, 'in conv.py:548', says no more than its name.
  const leaf = rest.replace(/ in \S+:\d+$/, '');
  // Beside both there is room for no more of a caller in the same file than its line.
  const file = place.slice(0, place.lastIndexOf(':'));
  const line = caller.replace(`called from ${file}:`, 'called from :');
  return [place, `${place}${leaf}`, `${place}${caller}`, `${place}${leaf}${line}`, label];
}
