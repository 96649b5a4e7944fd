import { NO_STACK, type Snapshot, type StackIndex } from '../core/snapshot/tables.ts';

/** A stack as text, innermost frame first: rows differ from snapshot to snapshot, texts do not. */
export function describeStack(
  { strings, frames, stacks }: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>,
  stack: StackIndex,
): string {
  if (stack === NO_STACK) return 'no context';
  const texts: string[] = [];
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = stacks.frame[row];
    const where = `${strings.get(frames.filename[frame])}:${frames.line[frame]}`;
    texts.push(`${strings.get(frames.name[frame])} ${where}`);
  }
  return texts.join(' < ');
}
