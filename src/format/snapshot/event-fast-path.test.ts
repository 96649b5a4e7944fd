import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import { captureBytes } from '../../testing/captures.ts';
import { differences } from '../../testing/differences.ts';
import { EventPickler, type PickleForm, type WrittenEvent } from '../../testing/event-pickler.ts';
import { SnapshotDecoder } from './decoder.ts';
import { EventFastPath } from './event-fast-path.ts';
import { EventSink } from './event-sink.ts';

afterEach(() => void vi.restoreAllMocks());

/** The tables, or the error and the tables up to it. */
function outcome(bytes: Uint8Array, chunkSizes: readonly number[]): unknown {
  const decoder = new SnapshotDecoder();
  decoder.attach(EventFastPath);
  let fault: string | undefined;
  try {
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = chunkSizes[i % chunkSizes.length];
      decoder.push(bytes.subarray(at, at + size));
      at += size;
    }
    return plain(decoder.finish());
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    fault = JSON.stringify(error.failure);
  }
  return { fault, part: decoder.eventCount > 0 ? partOf(decoder) : undefined };
}

/** What was read of a truncated file; a splice may leave no snapshot, which is then the error. */
function partOf(decoder: SnapshotDecoder): object {
  try {
    return plain(decoder.finishPartial('cut'));
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return { failure: { ...error.failure } };
  }
}

/** Everything in a snapshot; its strings, frames and stacks by number. */
function plain(snapshot: ReturnType<SnapshotDecoder['finish']>) {
  const { strings, ...tables } = snapshot;
  const texts = Array.from({ length: strings.length }, (_, row) => strings.get(row));
  return { ...withEntries(tables), texts };
}

/** Maps become lists of pairs, which can be compared. */
function withEntries(value: object): object {
  if (ArrayBuffer.isView(value)) return value;
  if (value instanceof Map) return withEntries([...value]);
  const parts = Object.entries(value).map(([key, part]) => [
    key,
    typeof part === 'object' && part !== null ? withEntries(part) : part,
  ]);
  return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

/** One byte at a time, so the fast path never sees a whole row. */
const byOpcodes = (bytes: Uint8Array) => outcome(bytes, [1]);

/** Events that the sink takes from the stack machine, when everything is decoded at once. */
function rowsOfSink(bytes: Uint8Array): number {
  let rows = 0;
  const bind = EventSink.prototype.bind;
  vi.spyOn(EventSink.prototype, 'bind').mockImplementation(function (this: EventSink, keys) {
    const take = bind.call(this, keys);
    return (view, first) => {
      rows++;
      return take(view, first);
    };
  });
  outcome(bytes, [bytes.length]);
  return rows;
}

const FORMS: readonly PickleForm[] = ['memoize', 'put', 'cpp'];
const ADDRESS = 0x7f0000000000;

const usual = (i: number, more: Partial<WrittenEvent> = {}): WrittenEvent => ({
  action: ['alloc', 'free_requested', 'free_completed'][i % 3],
  addr: ADDRESS + i * 512,
  size: [512, 70_000, 2 ** 33][i % 3],
  stream: 0,
  time_us: 1_795_228_171_836_172 + i,
  ...more,
  frames: [[1, 2, 3], [], [4, 3]][i % 3],
});

function pickleOf(form: PickleForm, events: readonly WrittenEvent[]): Uint8Array {
  const pickler = new EventPickler(form);
  for (const event of events) pickler.event(event, 'anew');
  return pickler.finish();
}

describe('the fast path', () => {
  it.each(
    FORMS.flatMap((form) => [
      [form, 'plain', () => ({})] as const,
      [form, 'with contexts', () => ({ compile_context: 'N/A', user_metadata: '' })] as const,
      [
        form,
        'with annotations and pools',
        (i: number) => ({
          compile_context: 'N/A',
          user_metadata: `step ${i >> 5}`,
          category: 'PARAMETER',
          pool_id: [0, (i >> 4) % 3] as const,
        }),
      ] as const,
      [form, 'without times', () => ({ time_us: undefined })] as const,
      [form, 'with optional keys', (i: number) => (i % 2 ? { user_metadata: 'x' } : {})] as const,
    ]),
  )('%s, %s: reads nearly all rows, with the same result', (form, _, more) => {
    const events = Array.from({ length: 400 }, (__, i) => usual(i, more(i)));
    const bytes = pickleOf(form, events);
    expect(differences(outcome(bytes, [bytes.length]), byOpcodes(bytes))).toEqual([]);
    // The first rows of each kind; for protocol 2 also the 160 or so with memo slots of one byte.
    expect(rowsOfSink(bytes)).toBeLessThan(form === 'put' ? 200 : 40);
  });

  it('turns off once a memo slot was rewritten', () => {
    const pickler = new EventPickler('memoize');
    for (let i = 0; i < 100; i++) pickler.event(usual(i));
    // From here on, the slot of the first key holds another string.
    pickler.raw(0x8c, 1, 0x78, 0x71, 5, 0x30);
    for (let i = 0; i < 100; i++) pickler.event(usual(i));
    const bytes = pickler.finish();
    expect(differences(outcome(bytes, [bytes.length]), byOpcodes(bytes))).toEqual([]);
    expect(rowsOfSink(bytes)).toBeGreaterThanOrEqual(90);
  });

  it('leaves rows that rewrite one memo slot to the opcode loop', () => {
    const rows = (count: number) => {
      const pickler = new EventPickler('put');
      for (let i = 0; i < count; i++) pickler.event(usual(0));
      return pickler;
    };
    // What finish() adds.
    const ending = 4 + 4000;
    const lastRow = rows(10)
      .finish()
      .slice(rows(9).finish().length - ending, -ending);
    const pickler = rows(10);
    for (let i = 0; i < 5; i++) pickler.raw(...lastRow);
    // BINGET of the slot after theirs, which no row has filled.
    pickler.raw(0x68, lastRow[2] + 1);
    const bytes = pickler.finish();
    expect(byOpcodes(bytes)).toHaveProperty('fault');
    expect(differences(outcome(bytes, [bytes.length]), byOpcodes(bytes))).toEqual([]);
  });

  it.each(['protocols_p2', 'protocols_p3', 'protocols_p4', 'protocols_p5'])(
    '%s: equals the opcode loop, split or whole',
    (name) => {
      const bytes = captureBytes(`${name}.pickle.gz`);
      for (const end of [bytes.length, Math.floor(bytes.length * 0.7)]) {
        const part = bytes.subarray(0, end);
        expect(differences(outcome(part, [end]), byOpcodes(part))).toEqual([]);
      }
    },
  );
});

const text = fc.constantFrom('', 'N/A', 'forward', 'step 12', 'a text that is longer than a word');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** An event, mostly like the others; its numbers are at the limits of what the fast path takes. */
const event: fc.Arbitrary<WrittenEvent> = fc.record({
  action: fc.constantFrom('alloc', 'free_requested', 'free_completed', 'snapshot', 'odd'),
  addr: fc.constantFrom(ADDRESS, ADDRESS + 512, 0, -4096, 2 ** 52, 2 ** 52 - 1),
  size: fc.constantFrom(0, 512, 65_535, 65_536, 2 ** 31, 2 ** 39, -1, 2 ** 53 - 2),
  stream: fc.constantFrom(0, 0, 0, 7, 300, 94_000_000_000_000, -1),
  time_us: optional(fc.constantFrom(1_795_228_171_836_172, 1_795_228_171_836_173, 12)),
  compile_context: optional(text),
  user_metadata: optional(text),
  pool_id: optional(fc.constantFrom<[number, number]>([0, 0], [0, 3], [1, 0])),
  odd_key: fc.constantFrom(undefined, undefined, undefined, undefined, 5),
  frames: optional(fc.constantFrom([], [1], [1, 2], [2, 3, 4, 5, 6])),
});

/** Opcodes that no pickler writes between two events. */
const splice = fc.constantFrom(
  { name: 'POP_MARK MARK', bytes: [0x31, 0x28] },
  { name: 'POP', bytes: [0x30] },
  { name: 'None', bytes: [0x4e] },
  { name: 'DUP', bytes: [0x32] },
  { name: 'MARK POP_MARK', bytes: [0x28, 0x31] },
  { name: 'MEMOIZE', bytes: [0x94] },
  { name: 'BINPUT over a slot', bytes: [0x71, 9] },
  { name: 'LONG_BINPUT past the end', bytes: [0x72, 0, 4, 0, 0] },
  { name: 'BINGET', bytes: [0x68, 7] },
  { name: 'a memo slot never filled', bytes: [0x6a, 0xff, 0xff, 0xff, 0x7f] },
  { name: 'FRAME', bytes: [0x95, 0, 0, 0, 0, 0, 0, 0, 0] },
  { name: 'empty dictionary', bytes: [0x7d] },
  { name: 'half an event', bytes: [0x7d, 0x94, 0x28, 0x68, 5] },
  { name: 'no opcode', bytes: [0xff] },
);

const part = fc.oneof(
  { weight: 12, arbitrary: fc.record({ event }) },
  { weight: 1, arbitrary: fc.record({ splice }) },
  { weight: 1, arbitrary: fc.constant({ batch: true }) },
);

it('reads spliced and truncated bytes like the opcode loop', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FORMS),
      fc.array(part, { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 6000 }), { minLength: 1, maxLength: 5 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom<'anew' | 'by memo'>('anew', 'by memo'),
      (form, parts, sizes, cut, texts) => {
        const pickler = new EventPickler(form);
        // Enough to learn from and, in 'put', to be past the slots of one byte.
        for (let i = 0; i < 60; i++) pickler.event(usual(i, { user_metadata: 'N/A' }), texts);
        for (const each of parts) {
          if ('event' in each) pickler.event(each.event, texts);
          else if ('splice' in each) pickler.raw(...each.splice.bytes);
          else pickler.batch();
        }
        for (let i = 0; i < 20; i++) pickler.event(usual(i, { user_metadata: 'N/A' }), texts);
        const whole = pickler.finish();
        const bytes = cut < 0.7 ? whole : whole.subarray(0, Math.floor(whole.length * cut));
        const expected = byOpcodes(bytes);
        expect(differences(outcome(bytes, [bytes.length]), expected)).toEqual([]);
        expect(differences(outcome(bytes, sizes), expected)).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);
