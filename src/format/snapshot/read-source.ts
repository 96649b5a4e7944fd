/**
 * The key `source_files` of a snapshot: the program's own files, which vramscope.record puts in on request. See
 * docs/python.md.
 */
import type { DictEntry } from '../pickle/retained-values.ts';
import { addedEntries, type Entries, entriesOf, missingIn } from './added-value.ts';
import type { SnapshotSchema } from './schema.ts';
import type { SourceText, SourceTexts } from './tables.ts';

const FORMAT = { version: 1, maxValues: 2 ** 16 };
/** As python/vramscope/recorded_source.py has them. A text has no more letters than bytes. */
export const MAX_SOURCE_FILES = 1000;
export const MAX_SOURCE_LETTERS = 2 ** 20;
const MAX_LETTERS_IN_ALL = 8 * MAX_SOURCE_LETTERS;
const SHA256 = /^[0-9a-f]{64}$/;

/** Undefined if the file has none, or has it in a newer format. Unreadable files are counted. */
export function readSource(
  schema: SnapshotSchema,
  entry: DictEntry | undefined,
): SourceTexts | undefined {
  if (entry === undefined) return undefined;
  const { fields } = schema;
  const top = addedEntries(schema, entry, FORMAT);
  const listed = top.get('files');
  if (!Array.isArray(listed)) {
    fields.bad(entry.key, 0);
    return undefined;
  }
  let left = MAX_LETTERS_IN_ALL;
  const files = new Map<string, SourceText>();
  for (const [i, value] of listed.entries()) {
    const file = i < MAX_SOURCE_FILES ? textOf(entriesOf(value)) : undefined;
    left -= file?.pieces[0]?.text.length ?? 0;
    if (file !== undefined && left >= 0) files.set(file.filename, file);
    else fields.bad(entry.key, 0);
  }
  return { files: [...files.values()], missing: missingIn(top) };
}

function textOf(row: Entries): SourceText | undefined {
  const [filename, sha256, text] = ['filename', 'sha256', 'text'].map((key) => row.get(key));
  const isText = typeof text === 'string' && text.length <= MAX_SOURCE_LETTERS;
  if (typeof filename !== 'string' || !isSha256(sha256) || !isText) return undefined;
  return {
    filename,
    sha256,
    origin: 'recording',
    isWhole: true,
    ...(row.get('changed') === true && { isChanged: true }),
    pieces: [{ line: 1, text }],
  };
}

export const isSha256 = (value: unknown): value is string =>
  typeof value === 'string' && SHA256.test(value);
