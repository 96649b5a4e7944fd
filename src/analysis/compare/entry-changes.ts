/** The entries of two accounts side by side: their differences add up to that of the allocated bytes. */
import { getOrMake } from '../../base/memoized.ts';
import { fileKey } from './align-files.ts';
import type { FrameAlignment } from './align-frames.ts';
import type { ComparisonSide, SideEntry } from './side.ts';
import type { EntryChange } from './types.ts';

/** There may be several of them on a side, one a function. */
const BY_FUNCTION: ReadonlySet<SideEntry['kind']> = new Set(['kept', 'kept-graph', 'growing']);

/** The largest change first; entries that did not change are there too. */
export function entryChanges(
  a: ComparisonSide,
  b: ComparisonSide,
  { files }: FrameAlignment,
): EntryChange[] {
  const pairs = new Map<string, { a: SideEntry[]; b: SideEntry[] }>();
  const pairOf = ({ kind, lines: [frame] }: SideEntry, fileOf: (file: string) => string) => {
    const isByFunction = BY_FUNCTION.has(kind) && frame !== undefined;
    const key = isByFunction ? `${kind} ${fileOf(fileKey(frame.filename))} ${frame.name}` : kind;
    return getOrMake(pairs, key, () => ({ a: [], b: [] }));
  };
  for (const entry of a.entries) pairOf(entry, (file) => file).a.push(entry);
  for (const entry of b.entries) pairOf(entry, (file) => files.get(file) ?? file).b.push(entry);
  const changes = Array.from(pairs.values(), (pair) => changeOf(pair.a, pair.b));
  return changes.sort((x, y) => Math.abs(y.differenceBytes) - Math.abs(x.differenceBytes));
}

/** The lines and the rate are those of the largest entry of the side that has more. */
function changeOf(a: readonly SideEntry[], b: readonly SideEntry[]): EntryChange {
  const [bytesA, bytesB] = [sumOf(a, 'bytes'), sumOf(b, 'bytes')];
  const [{ kind, lines, rate, isGrowing }] = bytesA > bytesB ? a : b;
  return {
    ...{ kind, lines, rate: isGrowing ? rate : undefined, bytesA, bytesB },
    differenceBytes: bytesB - bytesA,
    countA: sumOf(a, 'count'),
    countB: sumOf(b, 'count'),
  };
}

const sumOf = (entries: readonly SideEntry[], column: 'bytes' | 'count'): number =>
  entries.reduce((sum, entry) => sum + entry[column], 0);
