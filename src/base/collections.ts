/** Helpers for maps and plain objects: caching, grouping, counting, summing. */

/** Calls `make` once for each key. Results live as long as the returned function. */
export function memoized<K, V>(
  make: (key: K) => V,
  known: Pick<Map<K, V>, 'get' | 'has'> & { set(key: K, value: V): void } = new Map<K, V>(),
): (key: K) => V {
  return (key) => {
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found as V;
    const made = make(key);
    known.set(key, made);
    return made;
  };
}

/** Like `memoized`, for objects; a result lives no longer than its object. */
export const weakMemoized = <K extends object, V>(make: (key: K) => V): ((key: K) => V) =>
  memoized(make, new WeakMap<K, V>());

/** Remembers what each function made of `subject`. Pass functions of a module, not new closures. */
export const onceFor = <S>(subject: S): (<T>(make: (subject: S) => T) => T) =>
  memoized((make: (subject: S) => unknown) => make(subject)) as never;

/** Gets or creates a key's value. Not for inner loops: each call creates a closure for `make`. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

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

/** Keeps the values that were used last. */
export class LruCache<V extends object> {
  readonly #capacity: number;
  /** Least recently used first. */
  readonly #values = new Map<string, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Marks the value as just used. Undefined when there is none, or it was dropped. */
  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.#moveToEnd(key, value);
    return value;
  }

  /** Drops the least recently used values when there is no room. */
  set(key: string, value: V): void {
    this.#moveToEnd(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#capacity) break;
      this.#values.delete(oldest);
    }
  }

  clear(): void {
    this.#values.clear();
  }

  getOrMake(key: string, make: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }

  #moveToEnd(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
