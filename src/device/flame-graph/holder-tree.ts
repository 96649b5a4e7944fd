/**
 * The names of variables as a tree: 'model.layers[0].weight' is in the boxes model › layers › [0] › weight. Two more
 * boxes are for what has no name.
 */
import { memoized } from '../../base/collections.ts';
import { hashText } from '../../base/hash.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { searchTerm } from '../search/qualifier.ts';
import { type FoldedTree, treeOf } from './folded-tree.ts';
import type { FlameGroups } from './frame-groups.ts';
import type { FlameGroup } from './types.ts';

/** In the order of the last two rows of the weights. */
const NAMELESS: readonly FlameGroup[] = [
  { kind: 'absent', reason: 'no-name', search: searchTerm('holder', '') },
  { kind: 'absent', reason: 'freed' },
];
const GRAPH = 'the graph of ';

/** Rows of the weights are those of the table of holders, then {@link NAMELESS}. Each box is a group of its own. */
export function holderTree({ holders, strings }: Snapshot): {
  readonly groups: FlameGroups;
  readonly tree: FoldedTree;
} {
  const described: FlameGroup[] = [...NAMELESS];
  // Group g is row g + 1.
  const parent = [-1, ...NAMELESS.map(() => 0)];
  const known = new Map<string, number>();
  const rowOfName = memoized((row: number): number => {
    const whole = strings.get(row);
    let above = 0;
    for (const { label, end } of nameParts(whole)) {
      const name = whole.slice(0, end);
      let own = known.get(name);
      if (own === undefined) {
        const search = searchTerm('holder', `^${name}`);
        described.push({ kind: 'holder', label, name, isGraph: name.startsWith(GRAPH), search });
        own = parent.push(above) - 1;
        known.set(name, own);
      }
      above = own;
    }
    return above;
  });
  const named = Array.from(holders?.name ?? [], rowOfName);
  const groups: FlameGroups = {
    length: described.length,
    describe: (group) => described[group],
    keyOf: memoized((group) => {
      const of = described[group];
      return of.kind === 'holder' ? (hashText(of.name) >>> 0).toString(36) : `${group}`;
    }),
  };
  const group = Int32Array.from(parent, (_, row) => row - 1);
  const stackOf = new Int32Array(parent.length).fill(-1);
  const rowOf = [Int32Array.from([...named, ...NAMELESS.map((_, at) => at + 1)])];
  return { groups, tree: treeOf(group, Int32Array.from(parent), stackOf, rowOf) };
}

/**
 * Splits a name before each attribute and item, but not within brackets, quotes or the function of a local variable:
 * "the graph of x in f()['a.b'].grad" has the parts "the graph of x in f()", "['a.b']" and "grad".
 *
 * @returns each part, and where it ends in the name
 */
export function nameParts(name: string) {
  const parts: { readonly label: string; readonly end: number }[] = [];
  let from = 0;
  let depth = 0;
  let quote = '';
  const cut = (end: number) => {
    if (end === 0 && name !== '') return;
    const label = name.slice(name[from] === '.' ? from + 1 : from, end);
    parts.push({ label, end });
    from = end;
  };
  for (let at = 0; at < name.length; at++) {
    const letter = name[at];
    if (quote !== '') {
      if (letter === '\\') at++;
      else if (letter === quote) quote = '';
    } else if ((letter === "'" || letter === '"') && (depth > 0 || name[at - 1] === '.')) {
      quote = letter;
    } else {
      if (depth === 0 && (letter === '.' || letter === '[')) cut(at);
      if (letter === '[') depth++;
      else if (letter === ']') depth--;
    }
  }
  cut(name.length);
  return parts;
}
