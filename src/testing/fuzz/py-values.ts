/** Values as Python has them, including odd ones: keys of any type, duplicate keys, shared containers. */
export type Py = null | boolean | bigint | string | Float | Seq | Dict;

export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class Seq {
  readonly kind: 'list' | 'tuple' | 'set';
  readonly items: Py[];
  constructor(kind: 'list' | 'tuple' | 'set', items: Py[]) {
    this.kind = kind;
    this.items = items;
  }
}

export class Dict {
  readonly pairs: [Py, Py][];
  constructor(pairs: [Py, Py][]) {
    this.pairs = pairs;
  }
}

export const list = (...items: Py[]): Seq => new Seq('list', items);
export const dict = (fields: Readonly<Record<string, Py>>): Dict =>
  new Dict(Object.entries(fields));

/** JSON repeats shared values, and our promises are for files of less than 10 MB. */
const MAX_VALUES = 200_000;

/** As JSON where possible; duplicate keys are kept. */
export function toJson(value: Py, depth = 0, written = { values: 0 }): string {
  if (depth > 20 || written.values++ > MAX_VALUES) return 'null';
  if (value instanceof Float) return Number.isFinite(value.value) ? String(value.value) : '1e999';
  if (value instanceof Seq)
    return `[${value.items.map((item) => toJson(item, depth + 1, written)).join()}]`;
  if (value instanceof Dict) {
    const pairs = value.pairs.map(([key, item]) => {
      const name = typeof key === 'string' ? key : toJson(key, depth + 1, written);
      return `${JSON.stringify(name)}:${toJson(item, depth + 1, written)}`;
    });
    return `{${pairs.join()}}`;
  }
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}
