/** Stores frames and call stacks once each: equal frames share a row, equal stacks a node of the tree. */
import { type StringInterner, TupleInterner } from '../../base/interners.ts';
import type { RetainedValues } from '../pickle/retained-values.ts';
import { type DictSink, Tag } from '../pickle/types.ts';
import type { FieldReader } from './field-reader.ts';
import type { FrameTable, StackTable } from './tables.ts';

export class FrameSink {
  readonly #strings: StringInterner;
  readonly #kept: RetainedValues;
  readonly #fields: FieldReader;
  readonly #frames = new TupleInterner();
  /** (line, text of the extras) for frames with fx_* keys. Their `line` is -2 - the row here. */
  readonly #withExtras = new TupleInterner();
  readonly #stacks = new TupleInterner();

  constructor(strings: StringInterner, kept: RetainedValues, fields: FieldReader) {
    this.#fields = fields;
    this.#strings = strings;
    this.#kept = kept;
    this.#stacks.intern(-1, -1, 0);
  }

  bind(keys: readonly string[]): DictSink {
    const offset = (key: string) => keys.lastIndexOf(key) * 2;
    const [name, filename, line] = [offset('name'), offset('filename'), offset('line')];
    const extras = [...new Set(keys)].filter((key) => !['name', 'filename', 'line'].includes(key));
    const string = (tags: Uint8Array, vals: Float64Array, at: number) =>
      tags[at] === Tag.String ? vals[at] : this.#fields.bad('frames', 0);
    return ({ tags, vals }, first) => {
      const nameId = name < 0 ? 0 : string(tags, vals, first + name);
      const fileId = filename < 0 ? 0 : string(tags, vals, first + filename);
      let lineNumber = 0;
      if (line >= 0) lineNumber = this.#line(tags[first + line], vals[first + line]);
      if (extras.length > 0) {
        const text = extras.map((key) => {
          const at = first + offset(key);
          return [key, String(this.#kept.toValue(tags[at] as Tag, vals[at]) ?? '')];
        });
        const textId = this.#strings.internText(JSON.stringify(text));
        lineNumber = -2 - this.#withExtras.intern(lineNumber, textId, 0);
      }
      return this.#frames.intern(nameId, fileId, lineNumber);
    };
  }

  /** If the unwinder knew no line, the value is None, -1 or, from C++, 2^64 - 1. */
  #line(tag: number, val: number): number {
    if (tag === Tag.None || (tag === Tag.Int && val < 0)) return 0;
    if (tag === Tag.BigInt && this.#kept.bigInt(val) === 2n ** 64n - 1n) return 0;
    const line = this.#fields.number(tag, val, 'line');
    return line <= 0x7fffffff ? line : this.#fields.bad('line', 0);
  }

  /** The node of the stack whose frames are rows[0 … count), innermost first. */
  node(rows: Int32Array, count: number): number {
    let node = 0;
    for (let i = count - 1; i >= 0; i--) node = this.#stacks.intern(node, rows[i], 0);
    return node;
  }

  get stackCount(): number {
    return this.#stacks.length;
  }

  finish(): { readonly frames: FrameTable; readonly stacks: StackTable } {
    const { length } = this.#frames;
    const line = this.#frames.c.slice(0, length);
    const extras = new Map<number, Readonly<Record<string, string>>>();
    for (let i = 0; i < length; i++) {
      if (line[i] >= 0) continue;
      const row = -2 - line[i];
      extras.set(i, Object.fromEntries(JSON.parse(this.#strings.get(this.#withExtras.b[row]))));
      line[i] = this.#withExtras.a[row];
    }
    return {
      frames: {
        length,
        name: this.#frames.a.slice(0, length),
        filename: this.#frames.b.slice(0, length),
        line,
        extras,
      },
      stacks: {
        length: this.#stacks.length,
        parent: this.#stacks.a.slice(0, this.#stacks.length),
        frame: this.#stacks.b.slice(0, this.#stacks.length),
      },
    };
  }
}
