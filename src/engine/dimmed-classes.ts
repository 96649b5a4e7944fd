/** The classes of those that match; the others have the class after the last. */
export class DimmedClasses {
  #classOf: Uint8Array | undefined;
  #mask: Uint8Array | undefined;
  #dimmed = new Uint8Array(0);

  /** The same array as long as both are the same: a panned frame keeps its columns by it. */
  of(classOf: Uint8Array, mask: Uint8Array, dim: number): Uint8Array {
    if (classOf === this.#classOf && mask === this.#mask) return this.#dimmed;
    this.#classOf = classOf;
    this.#mask = mask;
    this.#dimmed = classOf.map((of, id) => (mask[id] === 1 ? of : dim));
    return this.#dimmed;
  }
}
