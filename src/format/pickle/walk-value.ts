/** The value machine's second driver: a JavaScript value from JSON.parse or pickleparser. */

import { memoized } from '../../base/collections.ts';
import { LoadError } from '../../base/load-error.ts';
import { Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

/** A snapshot nests seven levels. The limit gives an error message instead of a stack overflow. */
const MAX_DEPTH = 1000;

const BYTES_PER_VALUE = 4;

/** Pushes one value onto the machine. Objects seen before come from the memo, as in a pickle. */
export function walkValue(machine: ValueMachine, value: unknown): void {
  new Walker(machine).walk(value, 0);
}

class Walker {
  readonly #machine: ValueMachine;
  readonly #slots = new Map<object, number>();
  #walked = 0;
  /** Caches a few hundred texts that occur millions of times. Encoding each would dominate the time. */
  readonly #rowOf = memoized((text: string) => this.#machine.strings.internText(text));

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  walk(value: unknown, depth: number): void {
    const machine = this.#machine;
    // The size in bytes is unknown, so assume some per value.
    if ((++this.#walked & 0xffff) === 0) {
      machine.growth.progress(this.#walked * BYTES_PER_VALUE, undefined);
    }
    switch (typeof value) {
      case 'number':
        machine.push(Number.isSafeInteger(value) ? Tag.Int : Tag.Float, value);
        return;
      case 'bigint':
        machine.pushBigInt(value);
        return;
      case 'string':
        machine.push(Tag.String, this.#rowOf(value));
        return;
      case 'boolean':
        machine.push(Tag.Bool, Number(value));
        return;
      case 'object':
        if (value === null) machine.push(Tag.None, 0);
        else this.#walkObject(value, depth);
        return;
      default:
        machine.push(Tag.None, 0);
    }
  }

  #walkObject(value: object, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw new LoadError({
        code: 'not-a-snapshot',
        message: `This file nests more than ${MAX_DEPTH} levels, which no memory snapshot does.`,
      });
    }
    const slot = this.#slots.get(value);
    if (slot !== undefined) {
      this.#machine.recall(slot);
      return;
    }
    if (ArrayBuffer.isView(value)) this.#machine.push(Tag.Bytes, 0);
    else if (Array.isArray(value) || value instanceof Set) this.#walkList(value, depth);
    else this.#walkDict(value, value instanceof Map ? value : Object.entries(value), depth);
  }

  #walkList(items: readonly unknown[] | ReadonlySet<unknown>, depth: number): void {
    const machine = this.#machine;
    machine.push(Tag.OpenList, -1);
    this.#remember(items);
    for (const item of items) {
      this.walk(item, depth + 1);
      machine.append();
    }
    machine.closeTop();
  }

  #walkDict(object: object, pairs: Iterable<readonly [unknown, unknown]>, depth: number): void {
    const machine = this.#machine;
    machine.push(Tag.OpenDict, -1);
    this.#remember(object);
    machine.mark();
    for (const [key, value] of pairs) {
      this.walk(key, depth + 1);
      this.walk(value, depth + 1);
    }
    machine.setItems();
    machine.closeTop();
  }

  #remember(value: object): void {
    const slot = this.#machine.memo.length;
    this.#machine.memoize(slot);
    this.#slots.set(value, slot);
  }
}
