import { describe, expect, it } from 'vitest';
import { emitPickle } from '../../testing/fuzz/emit-pickle.ts';
import { dict, list, type Py } from '../../testing/fuzz/py-values.ts';
import { join } from '../../testing/write-pickle.ts';
import { decodeSnapshot, encodeSnapshot } from '../snapshot-file/compact-snapshot.ts';
import { prune } from '../snapshot-file/prune.ts';
import { SnapshotDecoder } from './decoder.ts';
import { snapshotFromValue } from './from-value.ts';
import type { SourceTexts } from './tables.ts';

const SHA = 'c0ffee'.repeat(11).slice(0, 64);
const TEXT = 'def step():\n\treturn "é\u202e\u0000"\n';
const row = { filename: '/run/train.py', sha256: SHA, text: TEXT };
const READ: SourceTexts = {
  files: [
    {
      filename: '/run/train.py',
      sha256: SHA,
      origin: 'recording',
      isWhole: true,
      pieces: [{ line: 1, text: TEXT }],
    },
  ],
  missing: { '/run/data.py': 'it is larger than 1 MiB' },
};

const event = { action: 'alloc', addr: 512, size: 512, stream: 0, time_us: 1000, frames: [] };
const withSource = (source_files: unknown) =>
  snapshotFromValue({ segments: [], device_traces: [[event]], source_files });
const source = (files: unknown, missing: unknown = {}) => ({ version: 1, files, missing });

function codes(source_files: unknown) {
  const { source: found, warnings, devices } = withSource(source_files);
  expect(devices[0].events.length).toBe(1);
  const bad = warnings.filter(({ message }) => message.includes("'source_files'"));
  return { files: found?.files.length, bad: bad.map(({ message }) => parseInt(message, 10)) };
}

describe('the source of a pickle', () => {
  const toPy = (value: unknown): Py => {
    if (typeof value === 'number') return BigInt(value);
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return list(...value.map(toPy));
    const entries = Object.entries(Object(value)).map(([key, item]) => [key, toPy(item)]);
    return dict(Object.fromEntries(entries));
  };
  const value = toPy({
    segments: [],
    device_traces: [[event]],
    source_files: source([row], READ.missing),
  });

  it.each([0, 2, 4, 5] as const)('is the same in protocol %i, however it arrives', (protocol) => {
    const bytes = join(...emitPickle(value, { protocol, hasMemo: true, batch: 1000 }));
    for (const size of [1, 7, bytes.length]) {
      const decoder = new SnapshotDecoder();
      for (let at = 0; at < bytes.length; at += size) decoder.push(bytes.subarray(at, at + size));
      const { source: found, warnings } = decoder.finish();
      expect(found).toEqual(READ);
      expect(warnings).toEqual([]);
    }
  });

  it('says that a file was changed while the program ran', () => {
    const [file] = withSource(source([{ ...row, changed: true }])).source?.files ?? [];
    expect(file?.isChanged).toBe(true);
  });
});

describe('a broken source is a warning', () => {
  it.each([
    null,
    3,
    [],
    { version: 2, files: [] },
    { version: 1 },
    { version: 1, files: 'x' },
    { version: 1, files: {} },
  ])('as a whole: %j', (value) => expect(codes(value)).toEqual({ files: undefined, bad: [1] }));

  it.each([
    ['filename', undefined],
    ['filename', 7],
    ['sha256', undefined],
    ['sha256', SHA.toUpperCase()],
    ['sha256', `${SHA}\n`],
    ['text', undefined],
    ['text', [TEXT]],
    ['text', 'x'.repeat(2 ** 20 + 1)],
  ])('in a file: %s is %#', (key, value) => {
    expect(codes(source([row, { ...row, [key]: value }, 5]))).toEqual({ files: 1, bad: [2] });
  });

  it('if there are too many files, or too much text', () => {
    const many = Array.from({ length: 1003 }, (_, i) => ({ ...row, filename: `f${i}.py` }));
    expect(codes(source(many))).toEqual({ files: 1000, bad: [3] });
    const text = 'x'.repeat(2 ** 20);
    const large = many.slice(0, 10).map((file) => ({ ...file, text }));
    expect(codes(source(large))).toEqual({ files: 8, bad: [2] });
  });

  it('keeps one of two with the same name, and reasons that are texts', () => {
    const found = withSource(
      source([row, { ...row, text: 'x' }], { a: 1, __proto__x: 'y' }),
    ).source;
    expect(found?.files.map(({ pieces }) => pieces[0]?.text)).toEqual(['x']);
    expect(found?.missing).toEqual({ __proto__x: 'y' });
  });
});

describe('a file to share', () => {
  const snapshot = withSource(source([row], READ.missing));
  const WHOLE = { paths: 'whole', stacks: true } as const;
  const bytesOf = (options: Parameters<typeof prune>[1]) =>
    encodeSnapshot(prune(snapshot, options));
  const textOf = (options: Parameters<typeof prune>[1]) =>
    new TextDecoder().decode(bytesOf(options));

  it('holds no code unless asked to', () => {
    expect(textOf(WHOLE)).not.toContain('def step');
    expect(decodeSnapshot(bytesOf(WHOLE)).snapshot.source).toBeUndefined();
  });

  it('holds what was asked for, as it is', () => {
    expect(decodeSnapshot(bytesOf({ ...WHOLE, source: READ })).snapshot.source).toEqual(READ);
  });

  it.each([{ paths: 'last-two' }, { stacks: false }, { holders: false }] as const)(
    'holds none, even if asked to, without other names: %j',
    (omitted) => {
      expect(textOf({ ...WHOLE, source: READ, ...omitted })).not.toContain('def step');
    },
  );
});
