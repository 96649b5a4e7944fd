/** Frames and call stacks, each once: equal frames are one row, equal stacks one node of the tree. */
import type { StringInterner } from '../base/string-interner.ts';
import { TupleInterner } from '../base/tuple-interner.ts';
import type { RetainedValues } from '../pickle/retained-values.ts';
import { type DictSink, Tag } from '../pickle/types.ts';
import type { FrameTable, StackTable } from './tables.ts';

export class FrameSink {
  readonly #strings: StringInterner;
  readonly #kept: RetainedValues;
  readonly #frames = new TupleInterner();
  /** (line, text of the extras) of frames that carry fx_* keys; their `line` is -2 - the row here. */
  readonly #withExtras = new TupleInterner();
  readonly #stacks = new TupleInterner();

  constructor(strings: StringInterner, kept: RetainedValues) {
    this.#strings = strings;
    this.#kept = kept;
    this.#stacks.intern(-1, -1, 0);
  }

  bind(keys: readonly string[]): DictSink {
    const offset = (key: string) => keys.indexOf(key) * 2;
    const [name, filename, line] = [offset('name'), offset('filename'), offset('line')];
    const extras = keys.filter((key) => !['name', 'filename', 'line'].includes(key));
    const string = (tags: Uint8Array, vals: Float64Array, at: number) =>
      tags[at] === Tag.String ? vals[at] : 0;
    return ({ tags, vals }, first) => {
      const nameId = name < 0 ? 0 : string(tags, vals, first + name);
      const fileId = filename < 0 ? 0 : string(tags, vals, first + filename);
      let lineNumber = line < 0 || tags[first + line] !== Tag.Int ? 0 : vals[first + line];
      if (lineNumber < 0 || lineNumber > 0x7fffffff) lineNumber = 0;
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

  /** Node of the stack whose frames are rows[0 … count), innermost first. */
  node(rows: Int32Array, count: number): number {
    let node = 0;
    for (let i = count - 1; i >= 0; i--) node = this.#stacks.intern(node, rows[i], 0);
    return node;
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
