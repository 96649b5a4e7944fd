/** Pickles a value in any of the ways that picklers use, as separate opcodes, so that each can be damaged. */
import { join, uint32 } from '../write-pickle.ts';
import { Dict, Float, type Py, type Seq } from './py-values.ts';
import type { Random } from './random.ts';

export interface Style {
  readonly protocol: 0 | 1 | 2 | 4 | 5;
  /** Whether repeated values are read from the memo. */
  readonly hasMemo: boolean;
  /** Items per APPENDS or SETITEMS; 0 writes them one by one. */
  readonly batch: number;
}

export function randomStyle(random: Random): Style {
  return {
    protocol: random.pick([0, 1, 2, 4, 4, 4, 5] as const),
    hasMemo: random.chance(0.8),
    batch: random.pick([0, 1, 2, 1000, 1000, 1000]),
  };
}

export function emitPickle(value: Py, style: Style): Uint8Array[] {
  const emitter = new Emitter(style);
  emitter.value(value, 0);
  const start = style.protocol >= 2 ? [join([0x80, style.protocol])] : [];
  return [...start, ...emitter.opcodes, join('.')];
}

const MAX_DEPTH = 100;
const MAX_OPCODES = 20_000;

class Emitter {
  readonly opcodes: Uint8Array[] = [];
  readonly #style: Style;
  readonly #slots = new Map<unknown, number>();

  constructor(style: Style) {
    this.#style = style;
  }

  value(value: Py, depth: number): void {
    // Without a memo, a value that contains itself would never end.
    const isTooMuch = depth > MAX_DEPTH || this.opcodes.length > MAX_OPCODES;
    if (value === null || isTooMuch) this.#op('N');
    else if (typeof value === 'boolean') this.#boolean(value);
    else if (typeof value === 'bigint') this.#integer(value);
    else if (value instanceof Float) this.#float(value.value);
    else if (this.#isKnown(value)) return;
    else if (typeof value === 'string') this.#text(value);
    else if (value instanceof Dict) this.#dict(value, depth);
    else if (value.kind === 'tuple') this.#tuple(value, depth);
    else this.#list(value, depth);
  }

  #op(...parts: readonly (string | ArrayLike<number>)[]): void {
    this.opcodes.push(join(...parts));
  }

  #isKnown(value: unknown): boolean {
    const slot = this.#style.hasMemo ? this.#slots.get(value) : undefined;
    if (slot === undefined) return false;
    if (this.#style.protocol === 0) this.#op(`g${slot}\n`);
    else if (slot < 256) this.#op('h', [slot]);
    else this.#op('j', uint32(slot));
    return true;
  }

  #remember(value: unknown): void {
    if (!this.#style.hasMemo) return;
    const slot = this.#slots.size;
    this.#slots.set(value, slot);
    if (this.#style.protocol >= 4) this.#op([0x94]);
    else if (this.#style.protocol === 0) this.#op(`p${slot}\n`);
    else if (slot < 256) this.#op('q', [slot]);
    else this.#op('r', uint32(slot));
  }

  #boolean(value: boolean): void {
    if (this.#style.protocol >= 2) this.#op([value ? 0x88 : 0x89]);
    else this.#op(value ? 'I01\n' : 'I00\n');
  }

  #integer(value: bigint): void {
    if (this.#style.protocol === 0) this.#op(`L${value}L\n`);
    else if (value >= 0n && value < 256n) this.#op('K', [Number(value)]);
    else if (value >= 0n && value < 65536n) this.#op('M', uint32(Number(value)).slice(0, 2));
    else if (BigInt.asIntN(32, value) === value) {
      this.#op('J', uint32(Number(BigInt.asUintN(32, value))));
    } else if (this.#style.protocol === 1) this.#op(`L${value}L\n`);
    else {
      const digits: number[] = [];
      for (let rest = value; !isSignOf(rest, digits.at(-1)); rest >>= 8n) {
        digits.push(Number(BigInt.asUintN(8, rest)));
      }
      this.#op([0x8a, digits.length], digits);
    }
  }

  #float(value: number): void {
    if (this.#style.protocol === 0) {
      this.#op(`F${String(value).replace('Infinity', 'inf').replace('NaN', 'nan')}\n`);
      return;
    }
    const bytes = new DataView(new ArrayBuffer(8));
    bytes.setFloat64(0, value);
    this.#op('G', new Uint8Array(bytes.buffer));
  }

  #text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    if (this.#style.protocol === 0) {
      const raw = value.replace(/[^ -[\]-~]/g, (letter) => {
        return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
      this.#op(`V${raw}\n`);
    } else if (this.#style.protocol >= 4 && bytes.length < 256) {
      this.#op([0x8c, bytes.length], bytes);
    } else this.#op('X', uint32(bytes.length), bytes);
    this.#remember(value);
  }

  #tuple({ items }: Seq, depth: number): void {
    const own = { items };
    if (items.length === 0 && this.#style.protocol > 0) {
      this.#op(')');
      return;
    }
    const isShort = this.#style.protocol >= 2 && items.length < 4;
    if (!isShort) this.#op('(');
    for (const item of items) this.value(item, depth + 1);
    this.#op(isShort ? [0x84 + items.length] : 't');
    this.#remember(own);
  }

  #list(value: Seq, depth: number): void {
    const isSet = value.kind === 'set' && this.#style.protocol >= 4;
    if (this.#style.protocol === 0) this.#op('(', 'l');
    else this.#op(isSet ? [0x8f] : ']');
    this.#remember(value);
    const batch = isSet ? 1000 : this.#style.batch;
    this.#batches(value.items, batch, 'a', isSet ? [0x90] : 'e', (item) =>
      this.value(item, depth + 1),
    );
  }

  #dict(value: Dict, depth: number): void {
    if (this.#style.protocol === 0) this.#op('(', 'd');
    else this.#op('}');
    this.#remember(value);
    this.#batches(value.pairs, this.#style.batch, 's', 'u', ([key, item]) => {
      this.value(key, depth + 1);
      this.value(item, depth + 1);
    });
  }

  #batches<T>(
    items: readonly T[],
    batch: number,
    single: string,
    many: string | number[],
    write: (item: T) => void,
  ): void {
    if (batch === 0 || this.#style.protocol === 0) {
      for (const item of items) {
        write(item);
        this.#op(single);
      }
      return;
    }
    for (let at = 0; at < items.length; at += batch) {
      this.#op('(');
      items.slice(at, at + batch).forEach(write);
      this.#op(many);
    }
  }
}

/** Two's complement ends where the rest only repeats the sign of the last digit. */
function isSignOf(rest: bigint, last: number | undefined): boolean {
  if (last === undefined) return false;
  return rest === (last < 128 ? 0n : -1n);
}
