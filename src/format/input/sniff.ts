/** Recognizes a file by its first bytes, never by its name. */
import { latin1 } from '../../base/bytes.ts';
import type { LoadFailure } from '../../base/load-error.ts';
import type { Container } from '../snapshot/tables.ts';

/** Bytes that {@link sniff} needs: a tar identifies itself at byte 257, traces within 4 kB. */
export const HEAD_BYTES = 4096;

/** A format that never contains a snapshot, and how to say so. */
export interface ForeignFormat extends Pick<LoadFailure, 'code' | 'advice'> {
  /** Noun phrase: "a PNG image". */
  readonly what: string;
}

export type Sniffed =
  | { readonly kind: 'container'; readonly container: Container }
  | { readonly kind: 'foreign'; readonly format: ForeignFormat };

export const SNAPSHOT_ADVICE =
  'Open the file that torch.cuda.memory._dump_snapshot() wrote, as it is or compressed.';
const UNPACK_ADVICE = 'Unpack it and open the snapshot inside.';

export const TORCH_CHECKPOINT: ForeignFormat = {
  code: 'torch-checkpoint',
  what: 'a PyTorch checkpoint (written by torch.save)',
  advice:
    'A checkpoint contains weights but no memory history. Open the file that torch.cuda.memory._dump_snapshot() wrote.',
};
export const KINETO_TRACE: ForeignFormat = {
  code: 'kineto-trace',
  what: 'a profiler trace (Kineto, Chrome trace events)',
  advice:
    'Open traces in Perfetto. For memory, record with torch.cuda.memory._record_memory_history() and write torch.cuda.memory._dump_snapshot().',
};

interface Signature extends ForeignFormat {
  readonly at: number;
  readonly magic: readonly number[];
}

const ascii = (text: string): number[] => Array.from(text, (letter) => letter.charCodeAt(0));

function signature(
  magic: readonly number[],
  code: string,
  what: string,
  advice = SNAPSHOT_ADVICE,
  at = 0,
): Signature {
  return { at, magic, code, what, advice };
}

/** torch.save before 1.6 begins with a pickle of this number: 0x1950a86a20f9469cfc6c. */
const LEGACY_CHECKPOINT = [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8];

const SIGNATURES: readonly Signature[] = [
  { at: 0, magic: LEGACY_CHECKPOINT, ...TORCH_CHECKPOINT },
  signature([0x89, ...ascii('PNG')], 'png', 'a PNG image'),
  signature([0xff, 0xd8, 0xff], 'jpeg', 'a JPEG image'),
  signature(ascii('GIF8'), 'gif', 'a GIF image'),
  signature(ascii('%PDF'), 'pdf', 'a PDF document'),
  signature([0x7f, ...ascii('ELF')], 'elf', 'a Linux program or library (ELF)'),
  signature([0x89, ...ascii('HDF')], 'hdf5', 'an HDF5 file'),
  signature([0x93, ...ascii('NUMPY')], 'numpy', 'a NumPy array (.npy)'),
  signature(ascii('SQLite format 3'), 'sqlite', 'an SQLite database'),
  signature(ascii('GGUF'), 'gguf', 'a GGUF model'),
  signature(ascii('PAR1'), 'parquet', 'a Parquet file'),
  signature(ascii('BZh'), 'bzip2', 'a bzip2 archive', UNPACK_ADVICE),
  signature([0xfd, ...ascii('7zXZ')], 'xz', 'an xz archive', UNPACK_ADVICE),
  signature([0x37, 0x7a, 0xbc, 0xaf], '7z', 'a 7-Zip archive', UNPACK_ADVICE),
  signature([0x04, 0x22, 0x4d, 0x18], 'lz4', 'an LZ4 archive', UNPACK_ADVICE),
  signature(ascii('ustar'), 'tar', 'a tar archive', UNPACK_ADVICE, 257),
];

/** A compact snapshot begins with "vramscope" and a NUL, unlike any text or pickle. */
export const COMPACT_MAGIC: readonly number[] = [...ascii('vramscope'), 0];

const CONTAINERS: readonly { readonly magic: readonly number[]; readonly container: Container }[] =
  [
    { magic: [0x1f, 0x8b], container: 'gzip' },
    { magic: [...ascii('PK'), 3, 4], container: 'zip' },
    { magic: [...ascii('PK'), 5, 6], container: 'zip' },
    { magic: [0x28, 0xb5, 0x2f, 0xfd], container: 'zstd' },
    { magic: COMPACT_MAGIC, container: 'compact' },
  ];

/** `head` is the first {@link HEAD_BYTES} of the file, or all of a shorter one. */
export function sniff(head: Uint8Array): Sniffed {
  if (head.length === 0) return foreign('empty', 'an empty file (0 bytes)');
  for (const { magic, container } of CONTAINERS) {
    if (matches(head, magic, 0)) return { kind: 'container', container };
  }
  for (const { at, magic, ...format } of SIGNATURES) {
    if (matches(head, magic, at)) return { kind: 'foreign', format };
  }
  if (isPickle(head)) return { kind: 'container', container: 'pickle' };
  if (isSafetensors(head)) return foreign('safetensors', 'a safetensors file (model weights)');
  return sniffText(head);
}

function matches(head: Uint8Array, magic: readonly number[], at: number): boolean {
  return magic.every((byte, i) => head[at + i] === byte);
}

function foreign(code: string, what: string, advice = SNAPSHOT_ADVICE): Sniffed {
  return { kind: 'foreign', format: { code, what, advice } };
}

/**
 * Protocols 2 and up begin with 0x80 and their number. Protocols 0 and 1 begin with their first opcode: `(dp0`, `(lp0`
 * or `(d.` in 0; `}q`, `]q` or `}.` in 1; `cos\nsystem\n` names a callable.
 */
const BARE_PICKLE = /^(\([dlt][p(VSIFLNgsa.]|[}\]][q(r.sah]|\(c[\w.]+\n\w+\n|c[\w.]+\n\w+\n)/;

/** Higher than any existing protocol: a future Python may write 6, and the decoder then reports it. */
const MAX_PROTOCOL_BYTE = 15;

function isPickle(head: Uint8Array): boolean {
  if (head[0] === 0x80) return head.length === 1 || head[1] <= MAX_PROTOCOL_BYTE;
  return BARE_PICKLE.test(latin1(head.subarray(0, 256)));
}

/** Eight bytes of little-endian header size, then a JSON object. */
function isSafetensors(head: Uint8Array): boolean {
  return matches(head, [0, 0, 0, 0, ...ascii('{')], 4) && (head[9] === 0x22 || head[9] === 0x7d);
}

const HTML = /^<(!doctype\s+html|html|head|body|script|meta|title|!--)/i;
const TRACE_EVENTS = /"traceEvents"|"schemaVersion"|"displayTimeUnit"|^\[\s*\{[^}]*"ph"\s*:/;

function sniffText(head: Uint8Array): Sniffed {
  if (!isText(head)) {
    const first = Array.from(head.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0'));
    return foreign('unknown-format', `an unknown kind of file (first bytes: ${first.join(' ')})`);
  }
  const text = new TextDecoder().decode(head).trimStart();
  if (HTML.test(text)) return { kind: 'container', container: 'html' };
  if (/^[[{]/.test(text)) {
    if (TRACE_EVENTS.test(text)) return { kind: 'foreign', format: KINETO_TRACE };
    return { kind: 'container', container: 'json' };
  }
  if (text.startsWith('version https://git-lfs')) {
    return foreign(
      'git-lfs',
      'a Git LFS pointer in place of the file',
      'Run `git lfs pull` first.',
    );
  }
  return foreign('text', 'a text file');
}

/** UTF-8 with or without a byte order mark: no control characters except white space and escape. */
function isText(head: Uint8Array): boolean {
  return head.every((byte) => byte >= 32 || (byte >= 9 && byte <= 13) || byte === 27);
}
