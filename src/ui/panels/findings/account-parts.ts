/** For each row of an account: its name, the search that finds its blocks, and its color. */

import {
  type Account,
  type AccountEntry,
  type EntryKind,
  entryLabel,
} from '../../../analysis/account/types.ts';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { formatBytes } from '../../../base/format.ts';
import {
  type ClassTotal,
  classTerm,
  MEMORY_CLASSES,
  type MemoryClass,
} from '../../../device/classes/types.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import type { NamedPart } from '../../../device/search/qualifiers/names.ts';
import { classColors, plotColors, type ThemeName } from '../../theme/palette.ts';

/** Free memory belongs to no block, so no search finds it. */
export const isFree = (kind: EntryKind): boolean => kind === 'gaps' || kind === 'cached';

/** Memory that a healthy run would not have, or that the classes describe less well. */
export const isCohort = (kind: EntryKind): boolean =>
  kind === 'kept' || kind === 'kept-graph' || kind === 'growing' || kind === 'second-model';

/** A row of an account and its name: 'kept', 'kept-2' for the second largest of the kind, 'kept@end'. */
export interface AccountPart extends AccountEntry {
  readonly name: string;
  readonly isFirst: boolean;
}

export function partsOf(
  { entries }: Account,
  place: '' | '@end' | '@cursor',
): readonly AccountPart[] {
  const counts = new Map<EntryKind, number>();
  return entries.map((entry) => {
    const nth = (counts.get(entry.kind) ?? 0) + 1;
    counts.set(entry.kind, nth);
    const isFirst = nth === 1;
    return { ...entry, isFirst, name: `${entry.kind}${isFirst ? '' : `-${nth}`}${place}` };
  });
}

/** The searchable blocks of every row, at all known moments. @param atCursor the account at the cursor, if requested */
export function namedParts(
  { account, accountAtEnd }: Judgement,
  atCursor: Account | undefined,
): readonly NamedPart[] {
  const all = [
    ...partsOf(account, ''),
    ...(account === accountAtEnd ? [] : partsOf(accountAtEnd, '@end')),
    ...(atCursor === undefined ? [] : partsOf(atCursor, '@cursor')),
  ];
  return all
    .filter(({ kind }) => !isFree(kind))
    .map(({ name, allocations }) => ({ name, allocations }));
}

/**
 * The searches that find a row's blocks: the legend's class search if both mean the same bytes, else the row's own
 * name.
 */
export function termsOf({ kind, name }: AccountPart): {
  readonly ofClass: string | undefined;
  readonly own: string;
} {
  const found = isCohort(kind) ? undefined : classOf(kind);
  return {
    ofClass: found === undefined ? undefined : classTerm(found),
    own: searchTerm('part', name),
  };
}

/** Whether the legend shows the same figure. @param totals of the classes at that moment */
export const isWholeClass = (
  { kind, bytes }: AccountPart,
  totals: readonly ClassTotal[],
): boolean => totals.find((one) => one.class === classOf(kind))?.bytes === bytes;

/** Explains why a row and the legend differ: the classes that the row spans, or the rows that share its class. */
export function classNote(part: AccountPart, parts: readonly AccountPart[]): string | undefined {
  if (part.classes.length > 0) {
    const counted = part.classes.map((own) => `${formatBytes(own.bytes)} ${classLabel(own)}`);
    return `In the legend: ${counted.join(', ')}`;
  }
  const own = part.isFirst ? classOf(part.kind) : undefined;
  const elsewhere = parts.flatMap(({ kind, classes }) => {
    const found = classes.find((one) => one.class === own);
    return found === undefined ? [] : [`${formatBytes(found.bytes)} in ${entryLabel(kind)}`];
  });
  return elsewhere.length === 0 ? undefined : `The legend counts more: ${elsewhere.join(', ')}`;
}

const classLabel = (total: ClassTotal): string =>
  MEMORY_CLASSES[total.class]?.label.toLowerCase() ?? '';

const CLASS_NAMES: Partial<Record<EntryKind, string>> = {
  growing: 'growing-state',
  'kv-cache': 'growing-state',
};

function classOf(kind: EntryKind): MemoryClass | undefined {
  const name = CLASS_NAMES[kind] ?? kind;
  const found = MEMORY_CLASSES.findIndex(({ id }) => id === name);
  return found < 0 ? undefined : (found as MemoryClass);
}

/** Rows without a class in the legend get colors that no class uses. */
const UNCLASSED: readonly EntryKind[] = ['kept-graph', 'second-model'];

/** The class's color, as in the legend; free memory has a pattern instead. */
export function partColor(theme: ThemeName, kind: EntryKind): string {
  const colors = classColors(theme, 'class');
  if (kind === 'pending-free') return plotColors(theme).pending;
  if (isFree(kind)) return 'transparent';
  const own = UNCLASSED.indexOf(kind);
  return colors[own >= 0 ? MEMORY_CLASSES.length + own : (classOf(kind) ?? 0)] ?? '';
}
