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
