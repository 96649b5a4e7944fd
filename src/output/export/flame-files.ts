/**
 * A flame graph as a file: for speedscope (https://www.speedscope.app/file-format-schema.json), and as folded stacks
 * for flamegraph.pl.
 */
import { memoized } from '../../base/collections.ts';
import { type FlameStack, noFrameText } from '../../device/flame-graph/flame-context.ts';
import type { FlameGroup, FlameWeight } from '../../device/flame-graph/types.ts';

export interface SpeedscopeOptions {
  /** The title: 'x.pickle, live at the peak'. */
  readonly name: string;
  readonly weight: FlameWeight;
  /** Makes two profiles, growth and shrinkage, because a weight cannot be negative. */
  readonly isDifference: boolean;
}

export function speedscopeFile(
  stacks: Iterable<FlameStack>,
  { name, weight, isDifference }: SpeedscopeOptions,
) {
  const frames: ReturnType<typeof frameOf>[] = [];
  // A group is the same object wherever it occurs, so each is one frame.
  const frameRow = memoized((group: FlameGroup) => frames.push(frameOf(group)) - 1);
  const samples = Array.from(stacks, ({ groups, value }) => ({
    frames: groups.map(frameRow),
    value,
  }));
  const profile = (title: string, own: typeof samples) => ({
    type: 'sampled',
    name: title,
    unit: weight === 'bytes' || weight === 'allocated' ? 'bytes' : 'none',
    startValue: 0,
    endValue: own.reduce((sum, { value }) => sum + Math.abs(value), 0),
    samples: own.map((sample) => sample.frames),
    weights: own.map(({ value }) => Math.abs(value)),
  });
  const grew = samples.filter(({ value }) => value >= 0);
  const shrank = samples.filter(({ value }) => value < 0);
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: { frames },
    profiles: isDifference
      ? [profile(`${name}: grew`, grew), profile(`${name}: shrank`, shrank)]
      : [profile(name, grew)],
    name,
    activeProfileIndex: 0,
    exporter: 'vramscope',
  };
}

/** Gives file and line only for a box with a single place: a module has many files. */
function frameOf(group: FlameGroup): { name: string; file?: string; line?: number } {
  if (group.kind === 'absent') return { name: `[${noFrameText(group.reason)}]` };
  if (group.kind !== 'frame') return { name: group.label };
  const { label, location, frame } = group;
  if (location === '') return { name: label };
  const { filename: file, line } = frame;
  return { name: label, file, ...(location.endsWith(`:${line}`) && { line }) };
}

/**
 * The text that flamegraph.pl and similar tools read: one stack per line, outermost frame first, then an integer weight.
 *
 *   main (train.py:9);forward (model.py:5) 4194304
 *
 * A difference has two columns, as in difffolded.pl. Ours are net: growth is in the second, shrinkage in the first.
 *
 *   main (train.py:9);forward (model.py:5) 0 4194304
 */
export function foldedStacks(stacks: Iterable<FlameStack>, isDifference: boolean): string {
  const lines: string[] = [];
  for (const { groups, value } of stacks) {
    const path = groups.map(frameText).join(';');
    // All digits, because these programs cannot read 1e21.
    const weight = BigInt(Math.round(Math.abs(value)));
    if (!isDifference) lines.push(`${path} ${weight}\n`);
    else lines.push(value < 0 ? `${path} ${weight} 0\n` : `${path} 0 ${weight}\n`);
  }
  return lines.join('');
}

/** Names must not contain semicolons or line breaks, which separate frames and stacks. */
function frameText(group: FlameGroup): string {
  if (group.kind === 'absent') return `[${noFrameText(group.reason)}]`;
  const place = group.kind === 'frame' ? group.location : '';
  const text = place === '' ? group.label : `${group.label} (${place})`;
  return text.replaceAll(';', ':').replaceAll(/\s+/g, ' ');
}
