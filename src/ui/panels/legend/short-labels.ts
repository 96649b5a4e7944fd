import { countOne } from '../../../base/collections.ts';

/**
 * Labels for a row with little room, each as short as it can be while it differs from all others: only 'model.py:84' if no
 * other site is on that line, else with what it called, else with one of its callers, else with both.
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const forms = labels.map(formsOf);
  const counts = new Map<string, number>();
  for (const form of forms.flatMap((own) => [...new Set(own)])) countOne(counts, form);
  return labels.map((label, at) => forms[at]?.find((form) => counts.get(form) === 1) ?? label);
}

/** The shortest first. */
function formsOf(label: string): readonly string[] {
  const [, place, rest = '', word, callers = ''] =
    /^(.*?:\d+)(.*?)(?: · (called from|by way of) (.*))?$/s.exec(label) ?? [];
  // 'MmBackward0 (backward pass)'
  if (place === undefined) return [label.replace(/ \([^()]*\)$/, ''), label];
  // ' · conv2d in conv.py:548': the name says enough, unless another line of it is in the legend.
  const [, name, line] = /^ · (.*) in (\S+:\d+)$/s.exec(rest) ?? [];
  const called = name === undefined ? [rest] : [` · ${name}`, ` · ${line}`];
  if (word === undefined) return [...['', ...called].map((one) => place + one), label];
  // A caller in the same file is only its line: ':95'.
  const file = place.slice(0, place.lastIndexOf(':') + 1);
  const near = [...callers.split(' ← '), callers];
  const by = near.map(
    (one) => ` · ${word} ${one.startsWith(file) ? one.slice(file.length - 1) : one}`,
  );
  const both = called.flatMap((one) => by.map((other) => one + other));
  return [...['', ...called, ...by, ...both].map((one) => place + one), label];
}
