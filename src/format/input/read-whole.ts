/** Formats that are read whole instead of as a stream: JSON, and the compact snapshot in a vramscope report. */
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { snapshotFromValue } from '../snapshot/from-value.ts';
import type { Snapshot } from '../snapshot/tables.ts';
import { type DecodedSnapshot, decodeSnapshot } from '../snapshot-file/compact-snapshot.ts';
import { collectBytes, type OpenBytes } from './byte-cursor.ts';
import {
  cutShortError,
  damagedError,
  ForeignError,
  foreignError,
  isNotASnapshot,
} from './failures.ts';
import { KINETO_TRACE, SNAPSHOT_ADVICE } from './sniff.ts';

/**
 * JSON.parse needs the whole text and creates an object for every entry: about ten times the file's bytes in memory. 64
 * MiB of JSON still fit in a browser tab. Pickles have no such limit.
 */
const MAX_JSON_BYTES = 64 * 2 ** 20;
/**
 * Limits opening brackets: '{},' is three bytes but an object of fifty. A snapshot has one bracket in some 60 bytes.
 */
const MAX_JSON_OBJECTS = 2 ** 21;

/**
 * The snapshot's dictionary as JSON, alone or inside another value.
 * @throws LoadError 'json-too-big', 'truncated', 'json-damaged', 'kineto-trace' or 'not-a-snapshot'
 */
export async function readJson(open: OpenBytes): Promise<Snapshot> {
  const bytes = await collectBytes(open(), MAX_JSON_BYTES);
  const code = 'json-too-big';
  if (bytes === undefined)
    throw tooBig(code, `This is JSON of more than ${MAX_JSON_BYTES / 2 ** 20} MiB`);
  if (countObjects(bytes) > MAX_JSON_OBJECTS)
    throw tooBig(code, 'This is JSON of millions of objects');
  const value = parse(bytes);
  try {
    return snapshotFromValue(value);
  } catch (error) {
    if (!isNotASnapshot(error)) throw error;
  }
  if (isTrace(value)) throw foreignError(KINETO_TRACE, undefined);
  throw new ForeignError({
    code: 'not-a-snapshot',
    message: 'This is JSON, but not the dictionary of a memory snapshot.',
    advice: SNAPSHOT_ADVICE,
  });
}

const tooBig = (code: string, what: string): LoadError =>
  new LoadError({
    code,
    message: `${what}, too large to read at once.`,
    advice: 'Open the original pickle instead: vramscope reads pickles of any size.',
  });

function countObjects(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte === 0x7b || byte === 0x5b) count++;
  return count;
}

function parse(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch (error) {
    // Engines word this error differently, but a truncated text seldom ends in its closing bracket.
    if (!/[\]}]\s*$/.test(text.slice(-64))) throw cutShortError('JSON', bytes.length);
    throw damagedError('JSON', errorText(error), undefined);
  }
}

function isTrace(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'traceEvents' in value;
}

/** Corresponds to about ten times as much pickle: a tab runs out of memory before this limit. */
const MAX_COMPACT_BYTES = 2 ** 30;

/**
 * The compact snapshot in a vramscope report.
 * @throws LoadError 'compact-too-big', 'compact-damaged' or 'compact-newer'
 */
export async function readCompact(open: OpenBytes): Promise<DecodedSnapshot> {
  const bytes = await collectBytes(open(), MAX_COMPACT_BYTES);
  if (bytes !== undefined) return decodeSnapshot(bytes);
  const most = `${MAX_COMPACT_BYTES / 2 ** 20} MiB`;
  throw tooBig('compact-too-big', `This compact snapshot is larger than ${most}`);
}
