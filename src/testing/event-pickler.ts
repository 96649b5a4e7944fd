/** Events as PyTorch's picklers write them, byte by byte, to test every way of reading them. */
import { uint32 } from './write-pickle.ts';

/**
 * 'memoize': CPython, protocols 4 and 5. 'put': CPython, protocols 2 and 3. 'cpp': PyTorch's C++ pickler, which
 * memoizes strings and the lists that occur again.
 */
export type PickleForm = 'memoize' | 'put' | 'cpp';

/** An event's keys and values in order; undefined values are omitted. */
export interface WrittenEvent {
  readonly action: string;
  readonly [key: string]:
    | string
    | number
    | readonly [number, number]
    | readonly number[]
    | undefined;
}

export class EventPickler {
  readonly #form: PickleForm;
  readonly #bytes: number[] = [];
  readonly #slots = new Map<string, number>();
  #slot = 0;

  constructor(form: PickleForm) {
    this.#form = form;
    this.raw(0x80, form === 'memoize' ? 4 : 2);
    this.#open('}', 'snapshot');
    this.#mark();
    this.#text('segments');
    this.#open(']', 'segments');
    this.#text('device_traces');
    this.#open(']', 'traces');
    this.#open(']', 'trace');
    this.#mark();
  }

  raw(...bytes: readonly number[]): void {
    this.#bytes.push(...bytes);
  }

  /** Ends a batch of events and begins the next, as CPython does every thousand. */
  batch(): void {
    this.raw(0x65, 0x28);
  }

  /** @param texts how texts are written: out in full each time, as CPython gets them from C++, or by the memo */
  event(event: WrittenEvent, texts: 'anew' | 'by memo' = 'by memo'): void {
    this.#open('}', undefined);
    this.#mark();
    for (const [key, value] of Object.entries(event)) {
      if (value === undefined) continue;
      this.#text(key);
      if (key === 'frames' && typeof value === 'object') this.#frames(value);
      else if (typeof value === 'number') this.#integer(value);
      else if (typeof value === 'string') this.#text(value, key === 'action' ? 'by memo' : texts);
      else this.#pair(value);
    }
    this.raw(0x75);
  }

  /** The whole pickle, with bytes after STOP, so that the last event is not near the end of the buffer. */
  finish(): Uint8Array {
    this.raw(0x65, 0x61, 0x75, 0x2e);
    return Uint8Array.from([...this.#bytes, ...new Array<number>(4000).fill(0)]);
  }

  #mark(): void {
    this.raw(0x28);
  }

  #open(op: '}' | ']', name: string | undefined): void {
    this.raw(op.charCodeAt(0));
    if (this.#form !== 'cpp') this.#put(name);
  }

  #put(name: string | undefined): void {
    if (name !== undefined) this.#slots.set(name, this.#slot);
    if (this.#form === 'memoize') this.raw(0x94);
    else if (this.#slot < 256) this.raw(0x71, this.#slot);
    else this.raw(0x72, ...uint32(this.#slot));
    this.#slot++;
  }

  /** Returns false if the memo has nothing of that name. */
  #get(name: string): boolean {
    const slot = this.#slots.get(name);
    if (slot === undefined) return false;
    if (slot < 256) this.raw(0x68, slot);
    else this.raw(0x6a, ...uint32(slot));
    return true;
  }

  #text(text: string, how: 'anew' | 'by memo' = 'by memo'): void {
    if ((how === 'by memo' || this.#form === 'cpp') && this.#get(`text ${text}`)) return;
    const bytes = new TextEncoder().encode(text);
    if (this.#form === 'memoize') this.raw(0x8c, bytes.length, ...bytes);
    else this.raw(0x58, ...uint32(bytes.length), ...bytes);
    this.#put(`text ${text}`);
  }

  #integer(value: number): void {
    if (value >= 0 && value < 256) this.raw(0x4b, value);
    else if (value >= 0 && value < 65_536) this.raw(0x4d, value & 255, value >> 8);
    else if (value === (value | 0)) this.raw(0x4a, ...uint32(value >>> 0));
    else {
      const bytes = new DataView(new ArrayBuffer(8));
      bytes.setBigInt64(0, BigInt(value), true);
      let count = 8;
      if (this.#form !== 'cpp') {
        // The fewest bytes that also hold the sign.
        while (BigInt.asIntN(8 * (count - 1), BigInt(value)) === BigInt(value)) count--;
      }
      this.raw(0x8a, count, ...new Uint8Array(bytes.buffer).subarray(0, count));
    }
  }

  #pair([a, b]: readonly number[]): void {
    this.#integer(a);
    this.#integer(b);
    this.raw(0x86);
    if (this.#form !== 'cpp') this.#put(undefined);
  }

  /** A list of frames by their numbers; from the memo if it was written before. */
  #frames(frames: readonly number[]): void {
    const name = `frames ${frames.join()}`;
    if (frames.length > 0 && this.#get(name)) return;
    this.#open(']', name);
    if (frames.length > 0 || this.#form === 'cpp') {
      this.#mark();
      for (const frame of frames) this.#frame(frame);
      this.raw(0x65);
    }
    if (this.#form === 'cpp' && frames.length % 2 === 1) this.#put(name);
  }

  #frame(frame: number): void {
    const name = `frame ${frame}`;
    if (this.#get(name)) return;
    this.#open('}', name);
    this.#mark();
    this.#text('name');
    this.#text(`f${frame}`);
    this.#text('filename');
    this.#text('train.py');
    this.#text('line');
    this.#integer(frame);
    this.raw(0x75);
    if (this.#form === 'cpp') this.#put(name);
  }
}
