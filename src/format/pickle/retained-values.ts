/** Values that no sink takes (small lists, dictionaries, tuples, integers beyond 2^53), each with a number. */

import { getOrMake } from '../../base/collections.ts';
import type { StringInterner } from '../../base/interners.ts';
import { LoadError } from '../../base/load-error.ts';
import { type ListRun, Tag } from './types.ts';

export interface DictEntry {
  readonly key: string;
  readonly tag: Tag;
  readonly val: number;
}

interface Tuple {
  readonly tags: readonly Tag[];
  readonly vals: readonly number[];
}

/** A snapshot keeps some thousands of such values. More means other data that would fill the memory. */
const MAX_KEPT = 2 ** 21;
/** Lists up to this length are compared by content and kept once. */
const SHORT_LIST = 64;
/** Slots of the cache of (int, int) tuples, which events use as pool ids. */
const PAIR_CACHE = 64;
const INT_PAIR = Uint8Array.of(Tag.Int, Tag.Int);

export class RetainedValues {
  readonly #strings: StringInterner;
  readonly #lists: (readonly ListRun[])[] = [[]];
  readonly #shortLists = new Map<string, number>([['', 0]]);
  readonly #dicts: (readonly DictEntry[])[] = [];
  readonly #tuples: Tuple[] = [];
  readonly #tupleIds = new Map<string, number>();
  readonly #pairCache = new Float64Array(PAIR_CACHE * 3).fill(-1);
  readonly #bigInts: bigint[] = [];
  readonly #bigIntIds = new Map<bigint, number>();
  #kept = 0;

  constructor(strings: StringInterner) {
    this.#strings = strings;
  }

  /** The id of a list. Equal lists of a few strings or numbers share one id. 0 is the empty list. */
  listId(runs: readonly ListRun[]): number {
    const isShort = runs.length <= SHORT_LIST && runs.every((run) => run.tag !== Tag.Row);
    const content = isShort ? runs.map((run) => `${run.tag}:${run.first}`).join() : undefined;
    const known = content === undefined ? undefined : this.#shortLists.get(content);
    if (known !== undefined) return known;
    this.#count(runs.length);
    const id = this.#lists.push(runs) - 1;
    if (content !== undefined) this.#shortLists.set(content, id);
    return id;
  }

  listRuns(list: number): readonly ListRun[] {
    return this.#lists[list];
  }

  /** Items of a list or a tuple, which Python code treats alike; undefined for any other value. */
  items(tag: number, val: number): readonly ListRun[] | undefined {
    if (tag === Tag.List) return this.#lists[val];
    if (tag !== Tag.Tuple) return undefined;
    const { tags, vals } = this.#tuples[val];
    return tags.map((each, i) => ({ tag: each, first: vals[i], count: 1 }));
  }

  /** The id of a dictionary of the pairs at stack slots first … end. Keys that are not strings become text. */
  dictId(tags: Uint8Array, vals: Float64Array, first: number, end: number): number {
    const entries: DictEntry[] = [];
    for (let i = first; i < end; i += 2) {
      const key =
        tags[i] === Tag.None ? 'None' : String(this.toValue(tags[i] as Tag, vals[i]) ?? '?');
      entries.push({ key, tag: tags[i + 1] as Tag, val: vals[i + 1] });
    }
    this.#count(entries.length + 1);
    return this.#dicts.push(entries) - 1;
  }

  dictEntries(dict: number): readonly DictEntry[] {
    return this.#dicts[dict];
  }

  /** The id of the tuple of `count` values from stack slot `first` up. */
  tupleId(tags: Uint8Array, vals: Float64Array, first: number, count: number): number {
    const isIntPair = count === 2 && tags[first] === Tag.Int && tags[first + 1] === Tag.Int;
    if (!isIntPair) return this.#internTuple(tags, vals, first, count);
    return this.pairId(vals[first], vals[first + 1]);
  }

  pairId(a: number, b: number): number {
    const cache = this.#pairCache;
    const at = ((a * 31 + b) & (PAIR_CACHE - 1)) * 3;
    if (cache[at + 2] < 0 || cache[at] !== a || cache[at + 1] !== b) {
      cache[at] = a;
      cache[at + 1] = b;
      cache[at + 2] = this.#internTuple(INT_PAIR, Float64Array.of(a, b), 0, 2);
    }
    return cache[at + 2];
  }

  bigIntId(value: bigint): number {
    return getOrMake(this.#bigIntIds, value, () => {
      this.#count(1);
      return this.#bigInts.push(value) - 1;
    });
  }

  bigInt(id: number): bigint {
    return this.#bigInts[id];
  }

  /**
   * A small value as a JavaScript value (dictionaries as Map). Values taken by a sink are undefined, and so are those
   * beyond `budget`: lists that share lists can expand beyond memory and nest deeper than the call stack.
   */
  toValue(tag: Tag, val: number, budget: { left: number } = { left: 1000 }): unknown {
    if (budget.left-- <= 0) return undefined;
    switch (tag) {
      case Tag.Bool:
        return val === 1;
      case Tag.Int:
      case Tag.Float:
        return val;
      case Tag.BigInt:
        return this.#bigInts[val];
      case Tag.String:
        return this.#strings.get(val);
      case Tag.Tuple: {
        const { tags, vals } = this.#tuples[val];
        return tags.map((t, i) => this.toValue(t, vals[i], budget));
      }
      case Tag.List:
        return this.#listValues(this.#lists[val], budget);
      case Tag.Dict:
        return new Map(this.#dicts[val].map((e) => [e.key, this.toValue(e.tag, e.val, budget)]));
      default:
        return undefined;
    }
  }

  #listValues(runs: readonly ListRun[], budget: { left: number }): unknown[] {
    const values: unknown[] = [];
    for (const run of runs) {
      if (run.tag === Tag.Row) values.push(undefined);
      else values.push(this.toValue(run.tag, run.first, budget));
      if (budget.left <= 0) break;
    }
    return values;
  }

  #internTuple(tags: Uint8Array, vals: Float64Array, first: number, count: number): number {
    const tuple: Tuple = {
      tags: Array.from(tags.subarray(first, first + count)) as Tag[],
      vals: Array.from(vals.subarray(first, first + count)),
    };
    const content = `${tuple.tags.join()}:${tuple.vals.join()}`;
    let id = this.#tupleIds.get(content);
    if (id === undefined) {
      this.#count(count + 1);
      id = this.#tuples.push(tuple) - 1;
      this.#tupleIds.set(content, id);
    }
    return id;
  }

  #count(values: number): void {
    this.#kept += values;
    if (this.#kept > MAX_KEPT) {
      throw new LoadError({
        code: 'not-a-snapshot',
        message: 'This pickle contains millions of values that no memory snapshot has.',
        advice: 'Open a file that torch.cuda.memory._dump_snapshot() wrote.',
      });
    }
  }
}
