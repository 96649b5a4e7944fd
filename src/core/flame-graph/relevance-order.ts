/**
 * The order in which a table is best read from its top. By total alone, `<module>` and `main`, which
 * hold everything, come before the line that one looks for:
 *
 *   main.py:520 main 940.66 MiB › main.py:262 outs.append(…) 940.57 MiB › model.py:73 forward …
 *
 * So rows within one percent of each other count as equal, and of those the user's own come first,
 * then the innermost. Here that is line 262.
 */
const NEARLY = 0.99;

export interface RelevanceKey {
  readonly total: number;
  /** A frame of the user's own code. */
  readonly isOwn: boolean;
  readonly depth: number;
}

/** The largest total first, shrunk ones last. */
export function byRelevance<T extends RelevanceKey>(rows: readonly T[]): T[] {
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
