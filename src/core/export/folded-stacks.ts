import { type FlameStack, noFrameText } from '../flame-graph/flame-stacks.ts';
import type { FlameGroup } from '../flame-graph/types.ts';

/**
 * The text that flamegraph.pl and its kin read: a line a stack, outermost frame first, its weight
 * in whole units behind it.
 *
 *   main (train.py:9);forward (model.py:5) 4194304
 *
 * A difference has two columns, as difffolded.pl writes them. Ours are net: what a stack grew by
 * stands in the second, what it shrank by in the first.
 *
 *   main (train.py:9);forward (model.py:5) 0 4194304
 */
export function foldedStacks(stacks: Iterable<FlameStack>, isDifference: boolean): string {
  const lines: string[] = [];
  for (const { groups, value } of stacks) {
    const path = groups.map(frameText).join(';');
    const weight = wholeText(Math.abs(value));
    if (!isDifference) lines.push(`${path} ${weight}\n`);
    else lines.push(value < 0 ? `${path} ${weight} 0\n` : `${path} 0 ${weight}\n`);
  }
  return lines.join('');
}

/** Semicolons part frames and line ends stacks: neither may stand in a name. */
function frameText(group: FlameGroup): string {
  if (group.kind === 'absent') return `[${noFrameText(group.reason)}]`;
  const text = group.location === '' ? group.label : `${group.label} (${group.location})`;
  return text.replaceAll(';', ':').replaceAll(/\s+/g, ' ');
}

/** All digits: 1e21 byte microseconds are a number that these programs cannot read. */
function wholeText(value: number): string {
  return BigInt(Math.round(value)).toString();
}
