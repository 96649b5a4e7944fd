/** The same weights as a table: one row per function, file or module, or one row per call stack. */
import { functionText } from '../model/frame-text.ts';
import type { StackReader } from '../model/stacks.ts';
import { pathTo } from './flame-graph.ts';
import { totalsOf, type WeighedTree } from './folded-tree.ts';
import type { FrameGroups } from './frame-groups.ts';
import type { FlameGrouping, FlameOrderBy, FlameRow, FlameTable } from './types.ts';

export interface FlameOrder {
  readonly by: FlameOrderBy;
  readonly descending: boolean;
}

/** Rows of a table, sorted and described on request. */
export class FlameRows {
  readonly #weighed: WeighedTree;
  readonly #groups: FrameGroups;
  readonly #stacks: StackReader;
  readonly #entries: readonly Entry[];
  readonly #byStack: boolean;
  #order: FlameOrder | undefined;
  #sorted: readonly Entry[] = [];

  constructor(
    weighed: WeighedTree,
    groups: FrameGroups,
    stacks: StackReader,
    grouping: FlameGrouping,
  ) {
    this.#weighed = weighed;
    this.#groups = groups;
    this.#stacks = stacks;
    this.#byStack = grouping === 'stack';
    this.#entries = this.#byStack ? stackEntries(weighed) : groupEntries(weighed, groups.length);
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Rows from <= i < to in the requested order; the sort is stable. */
  page(order: FlameOrder, from: number, to: number): FlameTable {
    if (order.by !== this.#order?.by || order.descending !== this.#order.descending) {
      this.#sorted = this.#sort(order);
      this.#order = order;
    }
    const rows = this.#sorted.slice(Math.max(0, from), to).map((entry) => this.#describe(entry));
    return { length: this.#entries.length, rows };
  }

  /** Undefined if the table has no row with that key. */
  find(key: string): FlameRow | undefined {
    const entry = this.#entries.find((candidate) => this.#keyOf(candidate) === key);
    return entry && this.#describe(entry);
  }

  #sort({ by, descending }: FlameOrder): readonly Entry[] {
    if (by === 'relevance')
      return byRelevance(this.#entries.map((entry) => this.#relevance(entry)));
    const sign = descending ? -1 : 1;
    if (by === 'name') {
      const names = new Map(this.#entries.map((entry) => [entry, this.#name(entry)]));
      const compare = (a: string, b: string) => (a < b ? -sign : a > b ? sign : 0);
      return this.#entries.toSorted((a, b) => compare(names.get(a) ?? '', names.get(b) ?? ''));
    }
    return this.#entries.toSorted((a, b) => sign * (a[by] - b[by]));
  }

  #relevance(entry: Entry): Entry & RelevanceKey {
    const group = this.#groups.describe(entry.group);
    const isOwn = group.kind === 'frame' && group.frame.kind === 'user';
    return { ...entry, isOwn };
  }

  #describe(entry: Entry): FlameRow {
    const { group, row, self, total, count, matched } = entry;
    const stack = this.#byStack ? this.#weighed.tree.stackOf[row] : -1;
    return {
      key: this.#keyOf(entry),
      group: this.#groups.describe(group),
      stack,
      userFrame: stack < 0 ? undefined : this.#stacks.topUserFrameView(stack),
      self,
      total,
      count,
      matched,
    };
  }

  #keyOf({ group: own, row }: Entry): string {
    if (!this.#byStack) return this.#groups.keyOf(own);
    const { group, parent } = this.#weighed.tree;
    const keys: string[] = [];
    for (let at = row; at > 0; at = parent[at]) keys.push(this.#groups.keyOf(group[at]));
    return keys.reduceRight(pathTo, '');
  }

  /** Text to sort a row by: stacks sort by the user's line, as displayed. */
  #name({ group, row }: Entry): string {
    const stack = this.#byStack ? this.#weighed.tree.stackOf[row] : -1;
    const frame = stack < 0 ? undefined : this.#stacks.topUserFrameView(stack);
    if (frame !== undefined) return `${functionText(frame)} ${frame.filename} ${frame.line}`;
    const described = this.#groups.describe(group);
    if (described.kind === 'class') return described.label;
    return described.kind === 'frame' ? `${described.label} ${described.location}` : '';
  }
}

interface Entry {
  readonly group: number;
  /** Row of the tree; -1 for a group, which spans many rows. */
  readonly row: number;
  readonly depth: number;
  readonly self: number;
  readonly total: number;
  readonly count: number;
  readonly matched: number;
}

function stackEntries({ tree, self }: WeighedTree): Entry[] {
  const entries: Entry[] = [];
  for (let row = 1; row < tree.length; row++) {
    if (self.value[row] === 0 && self.count[row] === 0) continue;
    const { value, count, matched } = totalsOf(self, row);
    const [group, depth] = [tree.group[row], tree.depth[row]];
    entries.push({ group, row, depth, self: value, total: value, count, matched });
  }
  return entries;
}

/** A group's total sums its rows that lie in no other row of the group, so recursion counts once. */
function groupEntries({ tree, self, total }: WeighedTree, groupCount: number): Entry[] {
  const entries = Array.from({ length: groupCount }, (_, group) => ({
    group,
    row: -1,
    depth: 0,
    self: 0,
    total: 0,
    count: 0,
    matched: 0,
    hasAny: false,
  }));
  for (let row = 1; row < tree.length; row++) {
    const entry = entries[tree.group[row]];
    entry.self += self.value[row];
    if (total.magnitude[row] === 0 && total.count[row] === 0) continue;
    entry.hasAny = true;
    if (tree.isOutermost[row] === 0) continue;
    entry.depth = Math.max(entry.depth, tree.depth[row]);
    entry.total += total.value[row];
    entry.count += total.count[row];
    entry.matched += total.matched[row];
  }
  return entries.filter(({ hasAny }) => hasAny);
}

/**
 * The best reading order. By total alone, `<module>` and `main`, which hold everything, would come before the line that
 * you look for:
 *
 *   main.py:520 main 940.66 MiB › main.py:262 outs.append(…) 940.57 MiB › model.py:73 forward …
 *
 * So rows within one percent of each other count as equal. Among them the user's own come first, then the innermost.
 * Here that is line 262.
 */
const NEARLY = 0.99;

interface RelevanceKey {
  readonly total: number;
  /** A frame of the user's own code. */
  readonly isOwn: boolean;
  readonly depth: number;
}

/** Largest total first, shrunk rows last. */
function byRelevance<T extends RelevanceKey>(rows: readonly T[]): T[] {
  const sorted = rows.toSorted((a, b) => b.total - a.total);
  const ordered: T[] = [];
  for (let from = 0; from < sorted.length; ) {
    const least = sorted[from].total * NEARLY;
    let to = from + 1;
    while (to < sorted.length && sorted[to].total > 0 && sorted[to].total >= least) to++;
    const equals = sorted.slice(from, to);
    equals.sort((a, b) => Number(b.isOwn) - Number(a.isOwn) || b.depth - a.depth);
    for (const row of equals) ordered.push(row);
    from = to;
  }
  return ordered;
}
