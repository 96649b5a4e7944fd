/** The last few of what is costly to make, by name. */
export class LruCache<T extends object> {
  readonly #capacity: number;
  /** The longest unused first. */
  readonly #made = new Map<string, T>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(name: string, make: () => T): T {
    const value = this.#made.get(name) ?? make();
    this.#made.delete(name);
    this.#made.set(name, value);
    for (const oldest of this.#made.keys()) {
      if (this.#made.size <= this.#capacity) break;
      this.#made.delete(oldest);
    }
    return value;
  }
}
