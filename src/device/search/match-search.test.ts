import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { type AllocationDetails, allocationDetails } from '../model/allocation-details.ts';
import { allocationLabel } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { functionText } from '../model/frame-text.ts';
import { matchAllocations, matchStacks } from './match-search.ts';
import { parseSearch } from './parse-search.ts';
import { frameTerm, frameText, searchTerm } from './qualifier.ts';
import { loadRegexEngine } from './regex.ts';

await loadRegexEngine();

/** The allocations that match; all of them without a mask. */
function rows(context: DeviceModel, search: string, at?: number): number[] {
  const { mask, problem } = matchAllocations(context, search, at);
  expect(problem).toBeUndefined();
  return idsOf(context, (id) => mask === undefined || mask[id] === 1);
}

function idsOf(context: DeviceModel, isHit: (id: number) => boolean): number[] {
  return Array.from({ length: context.replay.allocations.length }, (_, id) => id).filter(isHit);
}

const textsOf = ({ allocStack, ...details }: AllocationDetails): string[] => [
  ...allocStack.frames.flatMap(({ name, filename }) => [name, filename]),
  details.category ?? '',
  details.compileContext ?? '',
  details.userMetadata ?? '',
];

const DRAWN = snapshotFromText(`
  +seg 20Mi large @0x7e0000000000
  +A 3Mi @train.py:10 forward < main.py:3 main
  begin step 1
  +B 1000 @train.py:11 backward < main.py:3 main
  +C 3Mi stream=1 @lib.py:10 forward < main.py:4 main
  -A?
  end step 1
  -A!
  +D 5Mi
  -B
`);
const [CONTEXT] = contextsOf(DRAWN.snapshot);
const [A, B, C, D] = [0, 1, 2, 3];
const labelOf = ({ replay, snapshot }: DeviceModel, id: number) =>
  allocationLabel(replay.allocations, snapshot.addresses, id);
const event = DRAWN.eventOf;

describe('a drawn trace', () => {
  test.each<[string, number[]]>([
    ['', [A, B, C, D]],
    ['forward', [A, C]],
    ['FORWARD train', [A]],
    ['-forward', [B, D]],
    ['main -lib.py', [A, B]],
    ['train.py:11', [B]],
    ['n.py:10', [A]],
    ['main.py:3 -backward', [A]],
    ['/ward$/', [A, B, C]],
    ['/^BACK/', [B]],
    ['/(?-i)^BACK/', []],
    ['frame:"main@main.py:3"', [A, B]],
    ['frame:"main@main.py:30"', []],
    ['0x7e0000000000', [A, D]],
    ['7E0000000000', [A, D]],
    ['b7e0000000000', [A, D]],
    ['b7e0000000000_0', [A]],
    ['s7e0000000000', [A, D]],
    ['s7e0000000000_1', []],
    ['deadbeef', []],
    ['size>3MiB', [D]],
    ['size>=3MiB', [A, C, D]],
    ['size=1024', [B]],
    ['size<1025', [B]],
    ['stream:0', [A, B, D]],
    ['stream:1', [C]],
    ['stream:7', []],
    ['pool:small', [B]],
    ['pool:large', [A, C, D]],
    ['pool:default', [A, B, C, D]],
    ['pool:private', []],
    ['pool:"(0, 0)"', [A, B, C, D]],
    ['state:live', [C, D]],
    ['state:freed', [A, B]],
    ['phase:"step 1"', [B, C]],
    ['phase:"step"', []],
    ['category:""', [A, B, C, D]],
    ['category:x', []],
    ['compile:""', [A, B, C, D]],
  ])('%s', (search, expected) => {
    expect(rows(CONTEXT, search)).toEqual(expected);
    const { terms } = parseSearch(search);
    if (terms.length === 1 && !terms[0].isNegated) {
      const others = [A, B, C, D].filter((id) => !expected.includes(id));
      expect(rows(CONTEXT, `-${search}`)).toEqual(others);
    }
  });

  test('states and ages are those at the cursor', () => {
    const pending = event('-A?');
    expect(rows(CONTEXT, 'state:pending', pending)).toEqual([A]);
    expect(rows(CONTEXT, 'state:live', pending)).toEqual([B, C]);
    expect(rows(CONTEXT, 'state:freed', pending)).toEqual([]);
    // A finished life has its length, a future one has none.
    const life = event('-A!') - event('+A');
    expect(rows(CONTEXT, `age:${life}`)).toContain(A);
    expect(rows(CONTEXT, `age>=0`, event('+B'))).toEqual([A, B]);
    expect(rows(CONTEXT, `age=${pending - event('+C')}`, pending)).toEqual([C]);
    // Events are 10 us apart.
    expect(rows(CONTEXT, `age>=${life * 10}us`)).toEqual(
      idsOf(CONTEXT, (id) => {
        const { startEvent, endEvent } = allocationDetails(CONTEXT, id);
        const last = CONTEXT.trace.events.length - 1;
        return Math.min(endEvent, last) - startEvent >= life;
      }),
    );
    expect(rows(CONTEXT, 'age>=0', 1e9)).toEqual([A, B, C, D]);
  });

  test('addresses and names', () => {
    const address = (name: string) => DRAWN.addressOf(name);
    const hex = (at: number) => at.toString(16);
    expect(rows(CONTEXT, `0x${hex(address('B'))}`)).toEqual([B]);
    expect(rows(CONTEXT, hex(address('B') + 1023))).toEqual([B]);
    expect(rows(CONTEXT, hex(address('B') + 1024))).toEqual([]);
    // D took A's place.
    expect(address('D')).not.toBe(address('B'));
    const atA = idsOf(CONTEXT, (id) => {
      const { address: from, sizeBytes } = CONTEXT.replay.allocations;
      return from[id] <= address('A') && address('A') < from[id] + sizeBytes[id];
    });
    expect(rows(CONTEXT, `b${hex(address('A'))}`)).toEqual(atA);
    for (const id of [A, B, C, D]) expect(rows(CONTEXT, labelOf(CONTEXT, id))).toEqual([id]);
    expect(rows(CONTEXT, searchTerm('site', labelOf(CONTEXT, B)))).toEqual([B]);
    expect(rows(CONTEXT, searchTerm('site', labelOf(CONTEXT, D)))).toEqual([D]);
    expect(rows(CONTEXT, 'b123456789abc_0')).toEqual([]);
    expect(rows(CONTEXT, 's7e0000000000')).toEqual(
      idsOf(
        CONTEXT,
        (id) => CONTEXT.replay.allocations.address[id] < 0x7e0000000000 + 20 * 2 ** 20,
      ),
    );
    expect(rows(CONTEXT, 's7e0000000000_1')).toEqual([]);
  });

  test('the figures cover the matches', () => {
    const { count, blockBytes, requestedBytes, requestedUnknown } = matchAllocations(
      CONTEXT,
      'train.py',
      undefined,
    );
    expect({ count, blockBytes, requestedBytes, requestedUnknown }).toEqual({
      count: 2,
      blockBytes: 3 * 2 ** 20 + 1024,
      requestedBytes: 3 * 2 ** 20 + 1000,
      requestedUnknown: 0,
    });
  });

  test('each term says what it matches alone, and why nothing', () => {
    expect(matchAllocations(CONTEXT, 'forward -size>4MiB stream:7', undefined).terms).toEqual([
      { text: 'forward', count: 2, note: undefined },
      { text: '-size>4MiB', count: 3, note: undefined },
      { text: 'stream:7', count: 0, note: 'There is no stream 7, only 0, 0x1.' },
    ]);
    const noteOf = (search: string) => matchAllocations(CONTEXT, search, undefined).terms[0].note;
    expect(noteOf('phase:other')).toBe('This device has no annotation "other".');
    expect(noteOf('b123456789abc_0')).toBe('This device has no allocation b123456789abc_0.');
    expect(noteOf('category:x')).toContain('category');
  });

  test('frames that are asked for are known, those that are excluded are not', () => {
    const { frames } = matchAllocations(CONTEXT, '/^forw/ -backward size>1', undefined);
    const { strings, frames: table } = CONTEXT.snapshot;
    const names = [...(frames ?? [])].flatMap((hit, i) =>
      hit === 1 ? [strings.get(table.name[i])] : [],
    );
    expect(names).toEqual(['forward', 'forward']);
    expect(matchAllocations(CONTEXT, 'size>1', undefined).frames).toBeUndefined();
  });

  test('stacks of events without allocations', () => {
    const stackOf = (id: number) => CONTEXT.replay.allocations.stack[id] + 1;
    const hits = (search: string) => {
      const { mask } = matchStacks(CONTEXT, search);
      return [A, B, C, D].filter((id) => mask?.[stackOf(id)] === 1);
    };
    expect(hits('forward -lib')).toEqual([A]);
    expect(hits('size>1')).toEqual([]);
    expect(hits('main -size>1')).toEqual([A, B, C]);
    expect(hits(searchTerm('site', labelOf(CONTEXT, C)))).toEqual([C]);
    expect(matchStacks(CONTEXT, ' ').mask).toBeUndefined();
    expect(matchStacks(CONTEXT, '-/a(/').problem).toMatchObject({ at: 3 });
  });
});

test('earlier allocations match by age only if that is certain', () => {
  const [context] = contextsOf(
    snapshotFromText(`
      +seg 20Mi large @0x7e0000000000
      +A 2Mi @a.py:1 a
      record
      +B 2Mi @b.py:1 b
      +C 2Mi @c.py:1 c
      -A
    `).snapshot,
  );
  expect(rows(context, 'age>1')).toEqual([A, B, C]);
  expect(rows(context, 'age<100')).toEqual([B, C]);
  expect(rows(context, 'age<=3')).toEqual([B, C]);
  expect(rows(context, 'a.py')).toEqual([]);
});

test('labels of the alloc event can be searched, and matched exactly', () => {
  const entry = (i: number, more: object) => ({
    action: 'alloc',
    addr: 0x7f0000000000 + i * 512,
    size: 8,
    frames: [],
    ...more,
  });
  const context = contextOf(
    traceOf(
      entry(0, { category: 'activation', compile_context: 'N/A' }),
      entry(1, { category: 'gradient', compile_context: 'Torch-Compiled Region: 0/0' }),
      entry(2, { user_metadata: 'Activation of "layer 3"' }),
      entry(3, {}),
    ),
  );
  expect(rows(context, 'activation')).toEqual([0, 2]);
  expect(rows(context, 'category:activation')).toEqual([0]);
  expect(rows(context, 'category:""')).toEqual([2, 3]);
  expect(rows(context, 'compile:"Torch-Compiled Region: 0/0"')).toEqual([1]);
  expect(rows(context, 'compile:""')).toEqual([0, 2, 3]);
  expect(rows(context, '"layer 3"')).toEqual([2]);
  expect(rows(context, 'n/a')).toEqual([]);
});

test('addresses above 2^53 are exact', () => {
  const entry = (addr: bigint) => ({ action: 'alloc', addr, size: 512, frames: [] });
  const context = contextOf(
    traceOf(entry(0xff00_0000_0000_0200n), entry(0xff00_0000_0000_0400n), entry(0x7f0000000000n)),
  );
  expect(rows(context, '0xff000000000003ff')).toEqual([0]);
  expect(rows(context, 'ff00000000000400')).toEqual([1]);
  expect(rows(context, 'bff00000000000400_0')).toEqual([1]);
  expect(rows(context, '0xfe00000000000400')).toEqual([]);
  expect(rows(context, '0xffffffffffffffff')).toEqual([]);
});

describe('regular expressions', () => {
  test.each([
    ['/a(b/', 2, 'write \\( for a literal bracket'],
    ['x -/ab[c/', 6, 'missing closing ]'],
    ['/a)b/', 2, 'unexpected )'],
    ['/(?=x)/', 1, 'no look-around'],
    ['/(a)\\1/', 4, 'no back references'],
    ['/a**/', 2, 'nested repetition'],
    ['/ab*{2}{3}/', 3, 'repetition'],
    ['/((a{90}){90})/', 1, 'repeat'],
    [`/${'(a{50}){19}'.repeat(20)}/`, 1, 'repeats too much'],
    [`/${'a'.repeat(1001)}/`, 1, 'longer than 1000'],
  ])('%s is refused', (search, at, words) => {
    const { mask, count, problem } = matchAllocations(CONTEXT, search, undefined);
    expect({ mask, count }).toEqual({ mask: undefined, count: 4 });
    expect(problem?.message).toContain(words);
    expect(problem?.at).toBeGreaterThanOrEqual(at);
    expect((problem?.at ?? 0) + (problem?.length ?? 0)).toBeLessThanOrEqual(search.length);
  });

  test.each(['(a+)+$', '(a|a)*b', '(.*)*(.*)*(.*)*x', '(x+x+)+y', '([a-z]+)*\\d'])(
    'the catastrophic %s is answered quickly',
    (source) => {
      const name = `${'a'.repeat(5000)}!${'x'.repeat(5000)}`;
      const frames = [{ name, filename: 'f.py', line: 1 }];
      const context = contextOf(traceOf({ action: 'alloc', addr: 512, size: 8, frames }));
      const begun = performance.now();
      rows(context, `/${source}/`);
      expect(performance.now() - begun).toBeLessThan(2000);
    },
  );

  test('100 kB of one word, and text in any script', () => {
    expect(rows(CONTEXT, 'x'.repeat(100_000))).toEqual([]);
    const frames = [{ name: 'Größe_Ω', filename: '/tmp/日本 語/🧠.py', line: 1 }];
    const context = contextOf(traceOf({ action: 'alloc', addr: 512, size: 8, frames }));
    for (const search of ['GRÖSSE', 'größe', 'ω', '"本 語"', '🧠', '/größe_./']) {
      expect(rows(context, search)).toEqual(search === 'GRÖSSE' ? [] : [0]);
    }
    expect(rows(context, frameTerm({ ...frames[0] }))).toEqual([0]);
  });
});

describe.each(allCaptureNames().filter((name) => !isRepeated(name)))('%s', (name) => {
  const contexts = contextsOf(loadCapture(name));

  test('matches what a check of each allocation finds', () => {
    for (const context of contexts) {
      const { length } = context.replay.allocations;
      if (length === 0) continue;
      const step = Math.max(1, Math.floor(length / 40));
      const sample = idsOf(context, (id) => id % step === 0);
      const details = new Map(sample.map((id) => [id, allocationDetails(context, id)]));
      const checked = new Set<string>();
      const check = (search: string, isHit: (allocation: AllocationDetails) => boolean) => {
        if (checked.has(search)) return;
        checked.add(search);
        const { mask, problem } = matchAllocations(context, search, undefined);
        expect(problem).toBeUndefined();
        const found = sample.filter((id) => mask?.[id] === 1);
        const right = [...details].filter(([, allocation]) => isHit(allocation)).map(([id]) => id);
        expect({ search, found }).toEqual({ search, found: right });
      };
      for (const word of ['backward', 'torch', '.py', 'at::native', 'Region']) {
        const has = (text: string) => text.toLowerCase().includes(word.toLowerCase());
        check(word, (allocation) => textsOf(allocation).some(has));
      }
      check('/^[a-z]+$/', (allocation) =>
        textsOf(allocation).some((text) => /^[a-z]+$/i.test(text)),
      );
      check('state:live', ({ state }) => state === 'live');
      check('state:pending', ({ state }) => state === 'pending');
      check('state:freed', ({ state }) => state === 'freed');
      check('size>1MiB', ({ blockBytes }) => blockBytes > 2 ** 20);
      check('pool:small', ({ pool }) => pool === 'small');
      check('pool:private', ({ privatePool }) => privatePool !== undefined);
      for (const { index, stream, privatePool, topUserFrame, label, preexisting } of [
        ...details.values(),
      ].slice(0, 12)) {
        check(searchTerm('stream', stream), (other) => other.stream === stream);
        check(label, (other) => other.label === label);
        if (privatePool !== undefined) {
          check(`pool:"${privatePool}"`, (other) => other.privatePool === privatePool);
        }
        if (topUserFrame === undefined || preexisting) continue;
        const spelled = frameText(topUserFrame);
        check(frameTerm(topUserFrame), (other) =>
          other.allocStack.frames.some((frame) => frameText(frame) === spelled),
        );
        const site = siteOf(details.get(index));
        check(searchTerm('site', label), (other) => siteOf(other) === site);
      }
    }
  });

  test('the bytes of all allocations at the peak and at the end are the counters', () => {
    for (const context of contexts) {
      const { peaks, end } = context.replay;
      const all = matchAllocations(context, '', undefined);
      expect(all.peakBytes).toBe(peaks.activeBytes.bytes);
      expect(all.endBytes).toBe(end.activeBytes);
    }
  });
});

test('terms combine like sets', () => {
  const words = [
    'step.py:1',
    'run',
    'size>1MiB',
    'state:live',
    'state:freed',
    'age>7',
    'pool:small',
  ];
  const term = fc
    .tuple(fc.constantFrom('', '-'), fc.constantFrom(...words, 'stream:1', '/:?[13]/', '7f'))
    .map((parts) => parts.join(''));
  const program = allocatorProgram([]);
  fc.assert(
    fc.property(program, fc.array(term, { minLength: 1, maxLength: 4 }), (lines, terms) => {
      const [context] = contextsOf(snapshotFromText(lines.join('\n')).snapshot);
      const one = terms.map((text) => new Set(rows(context, text)));
      const all = idsOf(context, (id) => one.every((set) => set.has(id)));
      expect(rows(context, terms.join(' '))).toEqual(all);
      const { count, terms: alone } = matchAllocations(context, terms.join(' '), undefined);
      expect(count).toBe(all.length);
      expect(alone.map((each) => each.count)).toEqual(one.map((set) => set.size));
    }),
    { numRuns: 60 },
  );
});

/** The Python frames of a stack, or its name if it has none. */
function siteOf(allocation: AllocationDetails | undefined): string | undefined {
  const frames = allocation?.allocStack.frames ?? [];
  const python = frames.filter(({ kind }) => kind !== 'cpp');
  if (python.length > 0) return JSON.stringify(python);
  return allocation?.topUserFrame && functionText(allocation.topUserFrame);
}
