/** Lists by key, in the order the keys are first seen. 1, 2, 3 by parity: odd → 1, 3 and even → 2. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) addTo(groups, keyOf(item), item);
  return groups;
}

export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

export function countOne<K>(counts: Map<K, number>, key: K): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

export function sumBy<T>(items: Iterable<T>, of: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += of(item);
  return sum;
}

export function addUp<K>(sums: Map<K, number>, key: K, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount);
}

/** Keys with their sums; those with equal sums in the order they were first seen. */
export const largestFirst = <K>(sums: ReadonlyMap<K, number>): [key: K, sum: number][] =>
  [...sums].sort(([, a], [, b]) => b - a);
