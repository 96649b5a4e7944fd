/**
 * Opens a made-up snapshot while the page waits for a real one. Cold code takes three to seven times
 * as long as compiled code: without it, the first file of 1 MB takes 260 ms to decode, with it 40.
 */
import type { Clock } from '../base/task.ts';
import type { Platform } from '../format/input/types.ts';
import { openSnapshot } from './open-snapshot.ts';

/** Steps of the made-up run: enough for the compiler to take notice, 100 ms of work at most. */
const STEPS = 40;
const BLOCKS_A_STEP = 60;
const SEGMENT_ADDRESS = 0x7f00_0000_0000;
const BLOCK_BYTES = 4096;

/** Ends quietly when `signal` is aborted, as it is when a real file comes. */
export async function warmUp(clock: Clock, platform: Platform, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const bytes = madeUpPickle();
  const source = {
    name: 'warm-up',
    size: bytes.length,
    async *chunks() {
      yield bytes;
    },
  };
  const job = { source, platform, clock, options: {}, signal, onProgress: () => undefined };
  await openSnapshot(job).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** A trace as CPython pickles it: keys and strings from the memo, frame lists now and then anew. */
export function madeUpPickle(): Uint8Array<ArrayBuffer> {
  const pickle = new PickleWriter();
  pickle.open();
  let timeUs = 1_700_000_000_000_000;
  pickle.event('segment_alloc', SEGMENT_ADDRESS, 2 ** 21, timeUs);
  for (let step = 0; step < STEPS; step++) {
    for (let block = 0; block < BLOCKS_A_STEP; block++) {
      pickle.event('alloc', SEGMENT_ADDRESS + block * BLOCK_BYTES, BLOCK_BYTES - 100, timeUs++);
    }
    for (let block = BLOCKS_A_STEP - 1; block >= 0; block--) {
      const address = SEGMENT_ADDRESS + block * BLOCK_BYTES;
      pickle.event('free_requested', address, BLOCK_BYTES - 100, timeUs);
      pickle.event('free_completed', address, BLOCK_BYTES - 100, timeUs++);
    }
  }
  return pickle.close();
}

const MEMOIZE = 0x94;

/** Just enough of protocol 4 for the above. */
class PickleWriter {
  readonly #bytes: number[] = [];
  readonly #memo = new Map<string, number>();
  #slots = 0;

  /** {'device_traces': [[ */
  open(): void {
    this.#bytes.push(0x80, 4);
    this.#memoized('}');
    this.#ascii('(');
    this.#string('device_traces');
    this.#memoized(']');
    this.#memoized(']');
    this.#ascii('(');
  }

  close(): Uint8Array<ArrayBuffer> {
    this.#ascii('eau.');
    return Uint8Array.from(this.#bytes);
  }

  event(action: string, address: number, sizeBytes: number, timeUs: number): void {
    this.#memoized('}');
    this.#ascii('(');
    this.#string('action');
    this.#string(action);
    this.#string('addr');
    this.#integer(address);
    this.#string('size');
    this.#integer(sizeBytes);
    this.#string('stream');
    this.#integer(0);
    this.#string('time_us');
    this.#integer(timeUs);
    this.#string('frames');
    this.#frames();
    this.#ascii('u');
  }

  #frames(): void {
    this.#memoized(']');
    this.#ascii('(');
    for (const name of ['forward', 'step', 'main']) this.#frame(name);
    this.#ascii('e');
  }

  #frame(name: string): void {
    const slot = this.#memo.get(`frame ${name}`);
    if (slot !== undefined) {
      this.#recall(slot);
      return;
    }
    this.#memo.set(`frame ${name}`, this.#slots);
    this.#memoized('}');
    this.#ascii('(');
    this.#string('name');
    this.#string(name);
    this.#string('filename');
    this.#string('run.py');
    this.#string('line');
    this.#integer(name.length);
    this.#ascii('u');
  }

  #string(text: string): void {
    const slot = this.#memo.get(text);
    if (slot !== undefined) {
      this.#recall(slot);
      return;
    }
    this.#memo.set(text, this.#slots++);
    this.#bytes.push(0x8c, text.length);
    this.#ascii(text);
    this.#bytes.push(MEMOIZE);
  }

  #recall(slot: number): void {
    if (slot < 256) this.#bytes.push(0x68, slot);
    else this.#bytes.push(0x6a, slot & 255, (slot >> 8) & 255, (slot >> 16) & 255, 0);
  }

  /** LONG1 with as many bytes as it takes to keep the sign bit clear. */
  #integer(value: number): void {
    const digits: number[] = [];
    for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) digits.push(rest % 256);
    if ((digits.at(-1) ?? 0) >= 0x80) digits.push(0);
    this.#bytes.push(0x8a, digits.length, ...digits);
  }

  #memoized(opcode: string): void {
    this.#ascii(opcode);
    this.#bytes.push(MEMOIZE);
    this.#slots++;
  }

  #ascii(text: string): void {
    for (let i = 0; i < text.length; i++) this.#bytes.push(text.charCodeAt(i));
  }
}
