/**
 * Files that are not snapshots, damaged ones and malicious ones, made in memory, each with the code of the LoadError
 * that opening it must give. Used by the reader's tests and in the browser.
 */
import { gzipSync, zipSync } from 'fflate';
import { join, sampleSnapshot, uint32, writePickle } from './write-pickle.ts';

export interface HostileFile {
  /** Describes the file; also a valid file name. */
  readonly name: string;
  /** LoadFailure.code */
  readonly code: string;
  /** Complete events before the error, so that opening a part is offered. */
  readonly hasPartial: boolean;
  readonly make: () => Uint8Array;
}

function hostile(
  name: string,
  code: string,
  make: () => Uint8Array,
  hasPartial = false,
): HostileFile {
  return { name, code, hasPartial, make };
}

const sample = (pairs = 3): Uint8Array => writePickle(sampleSnapshot(pairs));
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const json = (value: unknown): Uint8Array => ascii(JSON.stringify(value));
const random = (length: number): Uint8Array => {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  });
};

const PNG = join([0x89], 'PNG\r\n', [0x1a], '\n', [0, 0, 0, 13], 'IHDR', new Uint8Array(17));
const PROTO_4 = [0x80, 4];

/** `cos\nsystem` called with a string by REDUCE: pickle.load would run it. */
export const osSystemPickle = (): Uint8Array =>
  join([0x80, 2], 'cos\nsystem\n', 'X', uint32(13), 'echo pwned>&2', '\x85R.');

const FOREIGN: readonly HostileFile[] = [
  hostile('empty', 'empty', () => new Uint8Array(0)),
  hostile('notes.txt', 'text', () => ascii('CUDA out of memory. Tried to allocate 20.00 MiB.\n')),
  hostile('(looks-like.txt', 'text', () => ascii('(deep learning notes)\n')),
  hostile('image.png', 'png', () => PNG),
  hostile('photo.jpg', 'jpeg', () => join([0xff, 0xd8, 0xff, 0xe0], new Uint8Array(40))),
  hostile('paper.pdf', 'pdf', () => ascii('%PDF-1.7\n%\n')),
  hostile('program', 'elf', () => join([0x7f], 'ELF', [2, 1, 1], new Uint8Array(57))),
  hostile('weights.h5', 'hdf5', () => join([0x89], 'HDF\r\n', [0x1a], '\n', new Uint8Array(40))),
  hostile('array.npy', 'numpy', () => join([0x93], 'NUMPY', [1, 0], new Uint8Array(60))),
  hostile('arrays.npz', 'numpy', () => zipSync({ 'x.npy': join([0x93], 'NUMPY', [1, 0]) })),
  hostile('model.safetensors', 'safetensors', () =>
    join(
      [64, 0, 0, 0, 0, 0, 0, 0],
      '{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}          ',
    ),
  ),
  hostile('archive.tar', 'tar', () =>
    join('run/', new Uint8Array(253), 'ustar', new Uint8Array(250)),
  ),
  hostile('random', 'unknown-format', () => random(4000)),
  hostile('lfs-pointer', 'git-lfs', () =>
    ascii('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n'),
  ),
  hostile('image.png.gz', 'png', () => gzipSync(PNG)),
  hostile('holiday.zip', 'zip-without-snapshot', () =>
    zipSync({ 'a/one.txt': ascii('one'), 'two.png': PNG }),
  ),
  hostile('empty.zip', 'zip-without-snapshot', () => zipSync({})),
  hostile('checkpoint.pt', 'torch-checkpoint', () =>
    zipSync({
      'model/data.pkl': join(PROTO_4, '}.'),
      'model/data/0': new Uint8Array(16),
      'model/version': ascii('3\n'),
    }),
  ),
  hostile('legacy-checkpoint.pt', 'torch-checkpoint', () =>
    join([0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19], '.'),
  ),
  hostile('page.html', 'html-without-snapshot', () =>
    ascii('<!DOCTYPE html><html><body>Drop a snapshot here</body></html>'),
  ),
  hostile('trace.json', 'kineto-trace', () =>
    json({ schemaVersion: 1, deviceProperties: [], traceEvents: [{ ph: 'X', name: 'aten::mm' }] }),
  ),
  hostile('trace-late.json', 'kineto-trace', () =>
    json({ padding: 'x'.repeat(5000), traceEvents: [{ ph: 'X' }] }),
  ),
  hostile('settings.json', 'not-a-snapshot', () => json({ editor: { tabSize: 2 } })),
  hostile('list.pickle', 'not-a-snapshot', () => writePickle([1, 2, 'three'])),
  hostile('dict.pickle', 'not-a-snapshot', () => writePickle({ loss: 3, steps: [1, 2] })),
];

const DAMAGED: readonly HostileFile[] = [
  hostile('cut-in-header', 'truncated', () => sample().subarray(0, 1)),
  hostile('cut.pickle', 'truncated', () => sample(50).subarray(0, 12_000), true),
  hostile('cut.pickle.gz', 'truncated', () => gzipSync(sample(900)).subarray(0, -3000), true),
  hostile('bad-crc.pickle.gz', 'gzip-damaged', () => flip(gzipSync(sample(50)), -6), true),
  hostile('cut.zip', 'truncated', () => zipSync({ 's.pickle': sample(50) }).subarray(0, -40), true),
  hostile('cut.html', 'truncated', () => traceplotHtml(sample(50)).subarray(0, 9000), true),
  hostile('cut.json', 'truncated', () => json(sampleSnapshot()).subarray(0, 900)),
  hostile('broken.json', 'json-damaged', () => ascii('{"segments": [1, 2,, 3]}')),
  hostile('garbage-in-the-middle', 'corrupt', () => withGarbage(sample(50), 12_000), true),
  hostile('global-in-the-middle', 'corrupt', () => withGlobal(sample(50), 12_000), true),
  hostile(
    'cut-ordered-dict',
    'truncated',
    () => join(PROTO_4, 'ccollections\nOrderedDict\n)R', sample().subarray(3, -9)),
    true,
  ),
  hostile('future-protocol', 'unknown-protocol', () => join([0x80, 9], '}.')),
];

const MALICIOUS: readonly HostileFile[] = [
  hostile('os-system.pickle', 'holds-code', osSystemPickle),
  hostile('os-system-p0.pickle', 'holds-code', () => ascii("cos\nsystem\n(S'echo pwned'\ntR.")),
  hostile('announces-8-GB', 'corrupt', () =>
    join(PROTO_4, '}', [0x8d], uint32(0), uint32(2), new Uint8Array(1000).fill(0x61)),
  ),
  hostile('nested-100000-deep', 'truncated', () => join(PROTO_4, ']'.repeat(100_000))),
  hostile('nested-100000-deep-whole', 'not-a-snapshot', () =>
    join(PROTO_4, ']'.repeat(100_000), 'a'.repeat(99_999), '.'),
  ),
  hostile('nested-100000-deep.json', 'not-a-snapshot', () =>
    ascii('['.repeat(100_000) + ']'.repeat(100_000)),
  ),
  hostile('memo-out-of-range', 'corrupt', () => join(PROTO_4, '}j', uint32(4_000_000_000), '.')),
  hostile('memo-slot-4-billion', 'corrupt', () => join(PROTO_4, '}r', uint32(4_000_000_000), '.')),
  hostile('empty-stack', 'corrupt', () => join(PROTO_4, '0000.')),
  hostile('negative-length', 'corrupt', () => join([0x80, 2], 'B', [0xfa, 0xff, 0xff, 0xff], '.')),
  hostile('proto-keys.pickle', 'not-a-snapshot', () =>
    join(PROTO_4, '}(', [0x8c, 9], '__proto__}u.'),
  ),
  hostile('proto-keys.json', 'not-a-snapshot', () =>
    ascii('{"__proto__": {"segments": "polluted"}, "constructor": {"prototype": 1}}'),
  ),
  hostile('gzip-in-gzip-in-gzip', 'too-nested', () => {
    let bytes = sample();
    for (let i = 0; i < 6; i++) bytes = gzipSync(bytes);
    return bytes;
  }),
  hostile('2-GB-window.zst', 'zstd-unsupported', () =>
    join([0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3], [1, 0, 0]),
  ),
];

export const HOSTILE_FILES: readonly HostileFile[] = [...FOREIGN, ...DAMAGED, ...MALICIOUS];

/** The page that `torch.cuda._memory_viz trace_plot` writes around a pickle, with its NUL padding. */
export function traceplotHtml(pickle: Uint8Array, padding = 1): Uint8Array {
  const padded = join(pickle, new Uint8Array(padding));
  let text = '';
  for (const byte of padded) text += String.fromCharCode(byte);
  return ascii(
    '\n<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type="module">\n' +
      'import {add_local_files} from "https://example.invalid/MemoryViz.js"\n' +
      `const local_files = [{"name": "snapshot.pickle", "base64": "${btoa(text)}"}]\n` +
      "add_local_files(local_files, 'Active Memory Timeline')\n</script>\n</body>\n",
  );
}

/** One bit changed; a negative index counts from the end. */
function flip(bytes: Uint8Array, index: number): Uint8Array {
  const copy = bytes.slice();
  copy[(index + copy.length) % copy.length] ^= 1;
  return copy;
}

/** 0xff is not an opcode. */
function withGarbage(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy.fill(0xff, at, at + 200);
  return copy;
}

/** Damage that looks like opcodes: from `at` on, the next dictionary becomes a call of a class. */
function withGlobal(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  const dictionary = copy.findIndex((byte, i) => i >= at && byte === 0x7d && copy[i + 1] === 0x28);
  copy.set(ascii('cgarbage\nhere\nR'), dictionary);
  return copy;
}
