/**
 * Small files that demand a lot: gigabytes of memory, minutes of work, or figures that are not numbers. Each must be
 * answered within seconds, by a snapshot with a warning or by one sentence.
 */
import { gzipSync, zipSync } from 'fflate';
import { join, type PickleValue, sampleSnapshot, writePickle } from './write-pickle.ts';

export interface Bomb {
  /** Describes the file; also a valid file name. */
  readonly name: string;
  /** LoadFailure.code, or part of the warning for a file that opens. */
  readonly answer: { readonly code: string } | { readonly warning: RegExp };
  readonly make: () => Uint8Array;
}

const refused = (name: string, code: string, make: () => Uint8Array): Bomb => ({
  name,
  answer: { code },
  make,
});
const warned = (name: string, warning: RegExp, make: () => Uint8Array): Bomb => ({
  name,
  answer: { warning },
  make,
});

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const PROTO_4 = [0x80, 4];
const MEMOIZE = [0x94];
const text = (value: string): Uint8Array => join([0x8c, value.length], value);
/** Pairs for a dictionary: 'k000000': 1, 'k000001': 1, … */
function manyKeys(count: number): Uint8Array {
  const pair = (_: unknown, i: number) => `X\x07\0\0\0k${String(i).padStart(6, '0')}K\x01`;
  return ascii(Array.from({ length: count }, pair).join(''));
}
/** `opcodes`, repeated to fill `length` bytes without building a string of that length. */
function repeated(opcodes: string | readonly number[], length: number): Uint8Array {
  const unit = join(opcodes);
  const whole = new Uint8Array(length - (length % unit.length));
  whole.set(unit.subarray(0, whole.length));
  for (let filled = unit.length; filled < whole.length; filled *= 2) {
    whole.copyWithin(filled, 0, filled);
  }
  return whole;
}
const packed = (opcodes: string | readonly number[], megabytes: number, end = ''): Uint8Array =>
  gzipSync(join(PROTO_4, repeated(opcodes, megabytes * 2 ** 20), end), { level: 1 });

/** A pickle of {'segments': …, 'device_traces': …} from opcodes. */
const top = (segments: ArrayLike<number>, traces: ArrayLike<number>): Uint8Array =>
  join(PROTO_4, '}(', text('segments'), segments, text('device_traces'), traces, 'u.');

const eventAt = (address: ArrayLike<number>): Uint8Array => {
  const addr = join(text('addr'), [0x8a, address.length], address);
  const rest = join(text('size'), 'M', [0, 2], text('stream'), 'K\0');
  return join('}(', text('action'), text('alloc'), addr, rest, 'u');
};
const EVENT = eventAt([0, 0, 0, 0, 0, 0x7f]);
const BLOCK = join('}(', text('size'), 'K\x01', text('state'), text('inactive'), 'u');
const segmentOf = (blocks: ArrayLike<number>): Uint8Array =>
  join('}(', text('address'), 'K\0', text('total_size'), 'K\x01', text('blocks'), blocks, 'u');

/** A list of `count` references to one value, as the memo's slots 0 (value) and 1 (list). */
const shared = (value: ArrayLike<number>, count: number): Uint8Array =>
  join(value, MEMOIZE, '0', ']', MEMOIZE, '(', repeated('h\0', 2 * count), 'e');

const AMPLIFIED: readonly Bomb[] = [
  refused('device-9999999.json', 'too-many-devices', () =>
    ascii('{"segments":[{"device":9999999,"address":4096,"total_size":1,"blocks":[]}]}'),
  ),
  refused('a-million-devices.pickle', 'too-many-devices', () =>
    top(join(']'), shared(join(']'), 100_000)),
  ),
  refused('events-shared-by-devices.pickle', 'corrupt', () =>
    top(join(']'), join(shared(EVENT, 50_000), '0](', repeated('h\x01', 2000), 'e')),
  ),
  refused('blocks-shared-by-segments.pickle', 'corrupt', () =>
    top(
      join(shared(BLOCK, 20_000), '0](', repeated([...segmentOf([0x68, 1])], 200_000), 'e'),
      join(']'),
    ),
  ),
  refused('segments-shared.pickle', 'corrupt', () => {
    const blocks = join(shared(BLOCK, 5000), '0');
    return top(
      join(blocks, segmentOf([0x68, 1]), MEMOIZE, '0](', repeated('h\x02', 100_000), 'e'),
      join(']'),
    );
  }),
  warned('one-event-400000-times.pickle', /^$/, () =>
    top(join(']'), join('](', shared(EVENT, 400_000), 'e')),
  ),
  refused('marks.pickle.gz', 'corrupt', () => packed('(', 8)),
  refused('stack.pickle.gz', 'corrupt', () => packed('N', 8)),
  refused('memo.pickle.gz', 'corrupt', () => packed([0x4e, 0x94, 0x30], 8)),
  refused('lists-that-wait.pickle.gz', 'corrupt', () => packed(']Na', 8)),
  refused('dictionaries-that-wait.pickle.gz', 'corrupt', () => packed('}NNs', 8)),
  refused('empty-lists.pickle.gz', 'corrupt', () => packed(']', 8)),
  refused('sets.pickle.gz', 'not-a-snapshot', () => packed([0x8f, 0x30], 8, 'N.')),
  refused('maps.pickle.gz', 'not-a-snapshot', () => packed('}0', 8, 'cbuiltins\ndict\n)R.')),
  refused('a-dictionary-of-100000-keys.pickle', 'not-a-snapshot', () =>
    join(PROTO_4, '}(', manyKeys(100_000), 'u.'),
  ),
  warned('a-frame-of-100000-keys.pickle', /'frames'/, () => {
    const file = join(text('name'), text('f'), text('filename'), text('f.py'));
    const frame = join('}(', file, text('line'), 'K\x01', manyKeys(100_000), 'u');
    return top(join(']'), join('](](', EVENT.subarray(0, -1), text('frames'), '](', frame, 'euee'));
  }),
  refused('zips-in-zips.zip', 'zip-without-snapshot', () => {
    const times = (n: number, bytes: Uint8Array) =>
      zipSync(Object.fromEntries(Array.from({ length: n }, (_, i) => [`${i}.zip`, bytes])));
    return times(16, times(16, times(16, zipSync({ 'a.txt': ascii('no snapshot') }))));
  }),
  refused('66-MB.json.gz', 'json-too-big', () =>
    gzipSync(join('[', repeated('{},', 66 * 2 ** 20), '0]'), { level: 1 }),
  ),
  refused('many-objects.json.gz', 'json-too-big', () =>
    gzipSync(join('[', repeated('[],', 7_000_000), '0]'), { level: 1 }),
  ),
  refused('nested-tuples.pickle', 'not-a-snapshot', () =>
    join(PROTO_4, ')', repeated([0x85], 200_000), '.'),
  ),
  refused('nested-marked-tuples.pickle', 'corrupt', () =>
    join(PROTO_4, repeated('(', 200_000), repeated('t', 200_000), '.'),
  ),
  refused('a-number-of-ten-million-digits.pickle', 'corrupt', () =>
    join(PROTO_4, 'L', repeated('9', 10_000_000), 'L\n.'),
  ),
];

type Fields = { readonly [key: string]: PickleValue };

/** The sample with one more event, whose own fields are `fields`. */
const withEvent = (fields: Fields): Fields => {
  const sample = sampleSnapshot();
  const [events = []] = sample.device_traces as readonly PickleValue[][];
  return { ...sample, device_traces: [[...events, { ...(events[1] as Fields), ...fields }]] };
};
const withSegment = (fields: Fields): Fields => {
  const sample = sampleSnapshot();
  const [segment] = sample.segments as readonly Fields[];
  return { ...sample, segments: [{ ...segment, ...fields }] };
};
const withTrace = (...items: readonly PickleValue[]): Fields => {
  const sample = sampleSnapshot();
  const [events = []] = sample.device_traces as readonly PickleValue[][];
  return { ...sample, device_traces: [[...events, ...items]] };
};
/** JSON has no NaN and no infinity, but it has fractions, negative numbers and 1e300. */
const json = (value: unknown): Uint8Array => ascii(JSON.stringify(value));
/** A pickle in which one BININT1 72 is replaced by another number, given as opcodes. */
const number = (opcodes: ArrayLike<number>): Uint8Array => {
  const pickle = writePickle(withEvent({ size: 72 }));
  const at = pickle.findLastIndex((byte, i) => byte === 0x4b && pickle[i + 1] === 72);
  return join(pickle.subarray(0, at), opcodes, pickle.subarray(at + 2));
};
const float = (value: number): Uint8Array => {
  const bytes = new DataView(new ArrayBuffer(9));
  bytes.setUint8(0, 0x47);
  bytes.setFloat64(1, value);
  return new Uint8Array(bytes.buffer);
};

const WRONG: readonly Bomb[] = [
  warned('size-nan.pickle', /1 value of 'size'.*byte \d+/, () => number(float(Number.NaN))),
  warned('size-infinite.pickle', /1 value of 'size'/, () => number(float(Infinity))),
  warned('size-fraction.pickle', /1 value of 'size'/, () => number(float(512.5))),
  warned('size-negative.pickle', /1 value of 'size'/, () => number(join('J', [0, 254, 255, 255]))),
  warned('size-2-to-the-63.pickle', /1 value of 'size'/, () =>
    number([0x8a, 9, 0, 0, 0, 0, 0, 0, 0, 0x80, 0]),
  ),
  warned('size-none.pickle', /1 value of 'size'/, () => number(join('N'))),
  warned('size-text.pickle', /1 value of 'size'/, () => number(text('512'))),
  warned('stream-none.pickle', /1 value of 'stream'/, () =>
    writePickle(withEvent({ stream: undefined })),
  ),
  warned('frames-none.pickle', /1 value of 'frames'/, () =>
    writePickle(withEvent({ frames: undefined })),
  ),
  warned('category-of-another-kind.pickle', /1 value of 'category'/, () =>
    writePickle(withEvent({ category: [1, 'a'] })),
  ),
  warned('setting-that-is-no-number.pickle', /1 value of 'allocator_settings'/, () =>
    writePickle({ ...sampleSnapshot(), allocator_settings: { divisions: { a: 'x' } } }),
  ),
  warned('size-missing.pickle', /1 value of 'size'/, () => {
    const sample = sampleSnapshot();
    const [events = []] = sample.device_traces as readonly PickleValue[][];
    const { size, ...rest } = events[1] as Fields;
    return writePickle({ ...sample, device_traces: [[...events, rest]] });
  }),
  warned('size-fraction.json', /1 value of 'size'/, () => json(withEvent({ size: 0.5 }))),
  warned('size-1e300.json', /1 value of 'size'/, () => json(withEvent({ size: 1e300 }))),
  warned('time-infinite.pickle', /1 value of 'time_us'/, () => {
    const pickle = writePickle(withEvent({ time_us: 72 }));
    const at = pickle.findLastIndex((byte, i) => byte === 0x4b && pickle[i + 1] === 72);
    return join(pickle.subarray(0, at), float(-Infinity), pickle.subarray(at + 2));
  }),
  warned('address-fraction.json', /1 value of 'addr'/, () => json(withEvent({ addr: 0.5 }))),
  warned('total-size-negative.pickle', /1 value of 'total_size'/, () =>
    writePickle(withSegment({ total_size: -512 })),
  ),
  warned('device-negative.pickle', /1 value of 'device'/, () =>
    writePickle(withSegment({ device: -1 })),
  ),
  warned('key-of-another-kind.pickle', /1 value of 'device_traces'/, () => {
    const odd = join('}(K\x07K\x07', EVENT.subarray(2));
    return top(join(']'), join(']](', EVENT, odd, 'ea'));
  }),
  warned('none-in-a-trace.pickle', /1 value of 'device_traces'/, () =>
    writePickle(withTrace(undefined)),
  ),
  warned('list-in-a-trace.pickle', /1 value of 'device_traces'/, () =>
    writePickle(withTrace(['alloc', 512])),
  ),
  warned('none-for-a-trace.pickle', /1 value of 'device_traces'/, () =>
    writePickle({ ...sampleSnapshot(), device_traces: [undefined] }),
  ),
  warned('unknown-state.pickle', /1 value of 'state'/, () =>
    writePickle(withSegment({ blocks: [{ address: 4096, size: 512, state: 'active' }] })),
  ),
  warned('events-for-blocks.pickle', /10 values of 'blocks'/, () => {
    const sample = sampleSnapshot();
    const [events = []] = sample.device_traces as readonly PickleValue[][];
    return writePickle(withSegment({ blocks: events }));
  }),
  warned('segments-are-none.pickle', /1 value of 'segments'/, () =>
    writePickle({ ...sampleSnapshot(), segments: undefined }),
  ),
  refused('33-regions.pickle', 'too-many-regions', () => {
    const events = Array.from({ length: 33 }, (_, i) => eventAt([0, 0, 0, 0, 0, 0x80, i, 0x20]));
    return top(join(']'), join('](](', ...events, 'ee'));
  }),
];

export const BOMBS: readonly Bomb[] = [...AMPLIFIED, ...WRONG];
