/** The values used last, by key: what is costly to make and asked for again. */
export class LruCache<V extends object> {
  readonly #capacity: number;
  /** The longest unused first. */
  readonly #values = new Map<string, V>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The value of a key, which is used by that; undefined when there is none, or none any more. */
  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) this.#moveToEnd(key, value);
    return value;
  }

  /** Adds or replaces a value, and drops those that have been unused for longest where there is no room. */
  set(key: string, value: V): void {
    this.#moveToEnd(key, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#capacity) break;
      this.#values.delete(oldest);
    }
  }

  /** The value of a key, made by `make` where there is none. */
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
