/** Values that vramscope.record adds to a snapshot under keys of its own: dictionaries with a `version`. */
import type { DictEntry } from '../pickle/retained-values.ts';
import type { SnapshotSchema } from './schema.ts';

export type Entries = ReadonlyMap<string, unknown>;

/** Empty for anything but a dictionary. */
export const entriesOf = (value: unknown): Entries => (value instanceof Map ? value : new Map());

interface AddedFormat {
  /** The newest format version that is read. */
  readonly version: number;
  /** Bounds what lists that share lists may stand for. */
  readonly maxValues: number;
}

/** The dictionary's entries; none if it has another version. */
export function addedEntries(
  { machine: { kept } }: SnapshotSchema,
  { tag, val }: DictEntry,
  { version, maxValues }: AddedFormat,
): Entries {
  const top = entriesOf(kept.toValue(tag, val, { left: maxValues }));
  return top.get('version') === version ? top : new Map();
}

/** What could not be recorded, with the reason; other values are left out. */
export const missingIn = (top: Entries): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...entriesOf(top.get('missing'))].filter(
      (row): row is [string, string] => typeof row[1] === 'string',
    ),
  );
