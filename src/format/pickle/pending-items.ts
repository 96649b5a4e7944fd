/** Items gathered so far for containers that may get more, by SETITEM, APPEND and full batches. */
import { corrupt } from './errors.ts';
import { type ListRun, Tag } from './types.ts';

/** Most containers on the stack that may wait for items at the same time. */
const MAX_CONTAINERS = 2 ** 16;
const MAX_RUNS = 2 ** 21;

export class PendingItems {
  /** By stack slot of the container. */
  readonly #runs = new Map<number, ListRun[]>();
  #count = 0;

  open(slot: number): void {
    if (this.#runs.size === MAX_CONTAINERS) throw tooMany();
    this.#runs.set(slot, []);
  }

  /** Adds values; consecutive rows in a list become one run. */
  add(slot: number, isList: boolean, tags: Uint8Array, vals: Float64Array): void {
    const runs = this.#runs.get(slot) ?? [];
    const before = runs.length;
    let run = runs.at(-1);
    for (let i = 0; i < tags.length; i++) {
      const tag = tags[i] as Tag;
      const follows = isList && run?.tag === Tag.Row && tag === Tag.Row;
      if (follows && run !== undefined && vals[i] === run.first + run.count) run.count++;
      else {
        run = { tag, first: vals[i], count: 1 };
        runs.push(run);
      }
    }
    this.#count += runs.length - before;
    if (this.#count > MAX_RUNS) throw tooMany();
  }

  at(slot: number): readonly ListRun[] {
    return this.#runs.get(slot) ?? [];
  }

  take(slot: number): readonly ListRun[] {
    const runs = this.at(slot);
    this.#runs.delete(slot);
    this.#count -= runs.length;
    return runs;
  }
}

const tooMany = () => corrupt('it begins millions of values that it does not end');
