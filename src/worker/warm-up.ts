/**
 * Opens a synthetic snapshot while the page waits for a real one. Cold code takes three to seven times as long as
 * compiled code: the first file of 1 MB takes 260 ms to decode without this, and 40 ms with it.
 */
import type { Clock } from '../base/task.ts';
import { openSnapshot } from './open-snapshot.ts';

/** Steps of the synthetic run: enough for the compiler to optimize, at most 100 ms of work. */
const STEPS = 40;
const BLOCKS_A_STEP = 60;
const SEGMENT_ADDRESS = 0x7f00_0000_0000;
const BLOCK_BYTES = 4096;

/** Ends quietly when `signal` is aborted, which happens when a real file arrives. */
export async function warmUp(clock: Clock, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const bytes = madeUpPickle();
  const source = {
    name: 'warm-up',
    size: bytes.length,
    async *chunks() {
      yield bytes;
    },
  };
  const job = { source, clock, options: {}, signal, onProgress: () => undefined };
  await openSnapshot(job).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

/** A trace as CPython pickles it: keys and strings from the memo, frame lists written out each time. */
export function madeUpPickle(): Uint8Array<ArrayBuffer> {
  const frames = ['forward', 'step', 'main'].map((name) => {
    return { name, filename: 'run.py', line: name.length };
  });
  let time_us = 1_700_000_000_000_000;
  const event = (action: string, addr: number, size: number) => {
    return { action, addr, size, stream: 0, time_us: time_us++, frames: [...frames] };
  };
  const events = [event('segment_alloc', SEGMENT_ADDRESS, 2 ** 21)];
  const addresses = Array.from(
    { length: BLOCKS_A_STEP },
    (_, block) => SEGMENT_ADDRESS + block * BLOCK_BYTES,
  );
  for (let step = 0; step < STEPS; step++) {
    for (const address of addresses) events.push(event('alloc', address, BLOCK_BYTES - 100));
    for (const address of addresses.toReversed()) {
      events.push(event('free_requested', address, BLOCK_BYTES - 100));
      events.push(event('free_completed', address, BLOCK_BYTES - 100));
    }
  }
  return pickled({ device_traces: [events] });
}

type Pickled = string | number | readonly Pickled[] | { readonly [key: string]: Pickled };

/** The subset of protocol 4 needed above: strings and containers come from the memo the second time. */
function pickled(value: Pickled): Uint8Array<ArrayBuffer> {
  const bytes = [0x80, 4];
  const memo = new Map<Pickled, number>();
  const ascii = (text: string) => bytes.push(...Array.from(text, (letter) => letter.charCodeAt(0)));
  const memoize = (value: Pickled) => {
    bytes.push(0x94);
    memo.set(value, memo.size);
  };
  const write = (value: Pickled): void => {
    const slot = memo.get(value);
    if (slot !== undefined) {
      if (slot < 256) bytes.push(0x68, slot);
      else bytes.push(0x6a, slot & 255, (slot >> 8) & 255, (slot >> 16) & 255, 0);
    } else if (typeof value === 'number') {
      // LONG1 with enough bytes to keep the sign bit clear.
      const digits: number[] = [];
      for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) digits.push(rest % 256);
      if ((digits.at(-1) ?? 0) >= 0x80) digits.push(0);
      bytes.push(0x8a, digits.length, ...digits);
    } else if (typeof value === 'string') {
      bytes.push(0x8c, value.length);
      ascii(value);
      memoize(value);
    } else {
      const isList = Array.isArray(value);
      ascii(isList ? ']' : '}');
      memoize(value);
      ascii('(');
      for (const part of isList ? value : Object.entries(value).flat()) write(part);
      ascii(isList ? 'e' : 'u');
    }
  };
  write(value);
  ascii('.');
  return Uint8Array.from(bytes);
}
