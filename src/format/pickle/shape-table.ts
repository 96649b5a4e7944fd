/** The key sequences seen so far, each with its sink. Real snapshots have about ten. */
import type { StringInterner } from '../../base/interners.ts';
import { type BoundSink, type Schema, Tag } from './types.ts';

export interface Shape {
  readonly keys: Float64Array;
  readonly sink: BoundSink | undefined;
}

/** More shapes than this mean arbitrary data, not a schema. Further ones are not kept. */
const MAX_SHAPES = 4096;

/** Most keys in a dictionary for a sink. PyTorch's have about ten. */
const MAX_KEYS = 256;

export class ShapeTable {
  readonly #schema: Schema;
  readonly #strings: StringInterner;
  /** Shapes by number of keys, most recently used first. */
  readonly #byCount: Shape[][] = [];
  #count = 0;

  constructor(schema: Schema, strings: StringInterner) {
    this.#schema = schema;
    this.#strings = strings;
  }

  /** The shape of the pairs at stack slots first … end; undefined if a key is not a string or there are too many. */
  find(tags: Uint8Array, vals: Float64Array, first: number, end: number): Shape | undefined {
    const count = (end - first) >> 1;
    const shapes = this.#byCount[count];
    if (shapes !== undefined) {
      for (let s = 0; s < shapes.length; s++) {
        const shape = shapes[s];
        if (!matches(shape.keys, tags, vals, first)) continue;
        if (s > 0) {
          shapes[s] = shapes[0];
          shapes[0] = shape;
        }
        return shape;
      }
    }
    return this.#add(tags, vals, first, count);
  }

  #add(tags: Uint8Array, vals: Float64Array, first: number, count: number): Shape | undefined {
    if (count > MAX_KEYS) return undefined;
    const keys = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      if (tags[first + 2 * k] !== Tag.String) return undefined;
      keys[k] = vals[first + 2 * k];
    }
    const names = Array.from(keys, (key) => this.#strings.get(key));
    const shape: Shape = { keys, sink: this.#schema.bind(names) };
    if (this.#count++ < MAX_SHAPES) {
      this.#byCount[count] ??= [];
      this.#byCount[count].push(shape);
    }
    return shape;
  }
}

function matches(keys: Float64Array, tags: Uint8Array, vals: Float64Array, first: number): boolean {
  for (let k = 0, at = first; k < keys.length; k++, at += 2) {
    if (vals[at] !== keys[k] || tags[at] !== Tag.String) return false;
  }
  return true;
}
