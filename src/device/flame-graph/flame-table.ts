/** The same weights as a table: one row per function, file or module, or one row per call stack. */
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { functionText } from '../model/frame-text.ts';
import type { StackReader } from '../model/stacks.ts';
import { pathTo } from './flame-graph.ts';
import { totalsOf, type WeighedTree } from './folded-tree.ts';
import type { FlameGroups } from './frame-groups.ts';
import type { FlameGrouping, FlameOrderBy } from './types.ts';

export interface FlameOrder {
  readonly by: FlameOrderBy;
  readonly descending: boolean;
}

export type FlameRow = ReturnType<FlameRows['describe']>;

/** The stacks of a tree, as they were transformed. */
export interface ReadStacks {
  readonly stacks: StackReader;
  /** Stack → a recorded stack that became this. */
  readonly recordedOf: Int32Array;
}

/** Rows of a table, sorted and described on request. */
export class FlameRows {
  readonly length: number;
  readonly #weighed: WeighedTree;
  readonly #groups: FlameGroups;
  readonly #stacks: StackReader;
  readonly #recordedOf: Int32Array;
  readonly #entries: readonly Entry[];
  readonly #byStack: boolean;
  #order: FlameOrder | undefined;
  #sorted: readonly Entry[] = [];
  #readable: readonly Entry[] | undefined;

  constructor(
    weighed: WeighedTree,
    groups: FlameGroups,
    { stacks, recordedOf }: ReadStacks,
    grouping: FlameGrouping,
  ) {
    this.#weighed = weighed;
    this.#groups = groups;
    this.#stacks = stacks;
    this.#recordedOf = recordedOf;
    this.#byStack = grouping === 'stack';
    this.#entries = this.#byStack ? stackEntries(weighed) : groupEntries(weighed, groups.length);
    this.length = this.#entries.length;
  }

  /** Rows from <= i < to in the requested order; the sort is stable. `length`: of the whole table. */
  page(order: FlameOrder, from: number, to: number) {
    if (order.by !== this.#order?.by || order.descending !== this.#order.descending) {
      this.#sorted = this.#sort(order);
      this.#order = order;
    }
    const rows = this.#sorted.slice(Math.max(0, from), to).map((entry) => this.describe(entry));
    return { length: this.length, rows };
  }

  /** Undefined if the table has no row with that key. */
  find(key: string): FlameRow | undefined {
    const entry = this.#entries.find((candidate) => this.#keyOf(candidate) === key);
    return entry && this.describe(entry);
  }

  #sort({ by, descending }: FlameOrder): readonly Entry[] {
    const sign = descending ? -1 : 1;
    if (by !== 'name') {
      this.#readable ??= this.#inReadingOrder();
      return this.#readable.toSorted((a, b) => sign * (a[by] - b[by]));
    }
    const names = new Map(this.#entries.map((entry) => [entry, this.#name(entry)]));
    const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
    return this.#entries.toSorted((a, b) => compare(names.get(a) ?? '', names.get(b) ?? ''));
  }

  /** Of equal rows, `<module>` and `main` hold no more than the line that you look for: the user's own, innermost first. */
  #inReadingOrder(): readonly Entry[] {
    const own = new Set(this.#entries.filter((entry) => this.#isOwn(entry)));
    return this.#entries.toSorted(
      (a, b) => Number(own.has(b)) - Number(own.has(a)) || b.depth - a.depth,
    );
  }

  #isOwn({ group }: Entry): boolean {
    const described = this.#groups.describe(group);
    return described.kind === 'frame' && described.frame.kind === 'user';
  }

  describe(entry: Entry) {
    const { self, total, count, matched } = entry;
    const stack = this.#stackOf(entry);
    return {
      /** For stacks the path to their box; for groups the group's key. */
      key: this.#keyOf(entry),
      group: this.#groups.describe(entry.group),
      /** A recorded call stack that the row stands for when grouped by stack; -1 otherwise. */
      stack: stack < 0 ? stack : this.#recordedOf[stack],
      /** The user's line of that stack. */
      userFrame: stack < 0 ? undefined : this.#stacks.topUserFrameView(stack),
      /** Weight of the allocations whose innermost box this is, and of all that have it in their stack. */
      self,
      total,
      count,
      /** Part of `total` that matches the search, as a width. */
      matched,
    };
  }

  #stackOf({ row }: Entry): StackIndex {
    return this.#byStack ? this.#weighed.tree.stackOf[row] : -1;
  }

  #keyOf({ group: own, row }: Entry): string {
    if (!this.#byStack) return this.#groups.keyOf(own);
    const { group, parent } = this.#weighed.tree;
    const keys: string[] = [];
    for (let at = row; at > 0; at = parent[at]) keys.push(this.#groups.keyOf(group[at]));
    return keys.reduceRight(pathTo, '');
  }

  /** Text to sort a row by: stacks sort by the user's line, as displayed. */
  #name(entry: Entry): string {
    const stack = this.#stackOf(entry);
    const frame = stack < 0 ? undefined : this.#stacks.topUserFrameView(stack);
    if (frame !== undefined) return `${functionText(frame)} ${frame.filename} ${frame.line}`;
    const described = this.#groups.describe(entry.group);
    if (described.kind === 'absent') return '';
    if (described.kind === 'holder') return described.name;
    return described.kind === 'class'
      ? described.label
      : `${described.label} ${described.location}`;
  }
}

interface Entry {
  readonly group: number;
  /** Row of the tree; -1 for a group, which spans many rows. */
  readonly row: number;
  depth: number;
  self: number;
  total: number;
  count: number;
  matched: number;
}

function stackEntries({ tree, self }: WeighedTree): Entry[] {
  const entries: Entry[] = [];
  for (let row = 1; row < tree.length; row++) {
    const { value, count, matched } = totalsOf(self, row);
    if (value === 0 && count === 0) continue;
    const [group, depth] = [tree.group[row], tree.depth[row]];
    entries.push({ group, row, depth, self: value, total: value, count, matched });
  }
  return entries;
}

/** A group's total sums its rows that lie in no other row of the group, so recursion counts once. */
function groupEntries({ tree, self, total }: WeighedTree, groupCount: number): Entry[] {
  const none = { row: -1, depth: 0, self: 0, total: 0, count: 0, matched: 0 };
  const entries = Array.from({ length: groupCount }, (_, group): Entry => ({ group, ...none }));
  const weighed = new Set<Entry>();
  for (let row = 1; row < tree.length; row++) {
    const entry = entries[tree.group[row]];
    entry.self += self.value[row];
    if (total.magnitude[row] === 0 && total.count[row] === 0) continue;
    weighed.add(entry);
    if (tree.isOutermost[row] === 0) continue;
    entry.depth = Math.max(entry.depth, tree.depth[row]);
    entry.total += total.value[row];
    entry.count += total.count[row];
    entry.matched += total.matched[row];
  }
  return entries.filter((entry) => weighed.has(entry));
}
