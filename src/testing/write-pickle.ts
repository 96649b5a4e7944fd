/** Small pickles for tests, written by hand: protocol 4, no memo, one SETITEMS or APPENDS each. */
import { concatBytes } from '../base/bytes.ts';

export type PickleValue =
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Tuple
  | readonly PickleValue[]
  | { readonly [key: string]: PickleValue };

/** Python's tuple; arrays are lists. */
export class Tuple {
  readonly items: readonly PickleValue[];

  constructor(...items: readonly PickleValue[]) {
    this.items = items;
  }
}

/** The pickle of `value`, as bytes: undefined is None, integers up to 2^53 are LONG1. */
export function writePickle(value: PickleValue): Uint8Array {
  return join([0x80, 4], pieces(value), '.');
}

/** One array from byte lists and strings of one byte per character. */
export function join(...parts: readonly (string | ArrayLike<number>)[]): Uint8Array {
  return concatBytes(
    parts.map((part) => {
      if (part instanceof Uint8Array) return part;
      return typeof part === 'string'
        ? Uint8Array.from(part, (letter) => letter.charCodeAt(0))
        : Uint8Array.from(part);
    }),
  );
}

function pieces(value: PickleValue): Uint8Array {
  if (value === undefined) return join('N');
  if (typeof value === 'boolean') return join([value ? 0x88 : 0x89]);
  if (typeof value === 'number') return number(value);
  if (typeof value === 'bigint') return join([0x8a, 9], unsigned(value), [0]);
  if (typeof value === 'string') return text(value);
  if (value instanceof Tuple) return join('(', concatBytes(value.items.map(pieces)), 't');
  if (Array.isArray(value)) return join('](', concatBytes(value.map(pieces)), 'e');
  const pairs = Object.entries(value).map(([key, item]) => join(text(key), pieces(item)));
  return join('}(', concatBytes(pairs), 'u');
}

/** BININT1 if it fits, else LONG1 of eight bytes: what C++ pickles contain, and all exact. */
function number(value: number): Uint8Array {
  if (value >= 0 && value < 256) return join('K', [value]);
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigInt64(0, BigInt(value), true);
  return join([0x8a, 8], new Uint8Array(bytes.buffer));
}

/** A ninth byte of 0 keeps a number over 2^63 positive, as CPython writes it. */
function unsigned(value: bigint): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, value, true);
  return new Uint8Array(bytes.buffer);
}

function text(value: string): Uint8Array {
  const bytes = new TextEncoder().encode(value);
  return join('X', uint32(bytes.length), bytes);
}

export function uint32(value: number): number[] {
  return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];
}

/** A snapshot of one device that allocates and frees `pairs` blocks of 512 bytes in one segment. */
export function sampleSnapshot(pairs = 3): { readonly [key: string]: PickleValue } {
  const base = 0x7f0000000000;
  const frames = [{ name: 'forward', filename: '/app/train.py', line: 12 }];
  const common = { size: 512, stream: 0, frames };
  const segmentFields = { size: 2 ** 21, addr: base, stream: 0, frames };
  const events: PickleValue[] = [{ action: 'segment_alloc', time_us: 1000, ...segmentFields }];
  for (let i = 0; i < pairs; i++) {
    const time_us = 2000 + i * 10;
    events.push({ action: 'alloc', addr: base, time_us, ...common });
    events.push({ action: 'free_requested', addr: base, time_us: time_us + 1, ...common });
    events.push({ action: 'free_completed', addr: base, time_us: time_us + 2, ...common });
  }
  const block = { address: base, size: 2 ** 21, requested_size: 0, state: 'inactive', frames: [] };
  const segment = {
    device: 0,
    address: base,
    total_size: 2 ** 21,
    allocated_size: 0,
    active_size: 0,
    requested_size: 0,
    stream: 0,
    segment_type: 'small',
    segment_pool_id: [0, 0],
    is_expandable: false,
    frames,
    blocks: [block],
  };
  return {
    segments: [segment],
    device_traces: [events],
    allocator_settings: { PYTORCH_CUDA_ALLOC_CONF: '', expandable_segments: false },
    external_annotations: [],
  };
}
