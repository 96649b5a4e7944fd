/** NAME.holders.json, which vramscope.holders writes beside a snapshot that the program dumped itself. */
import { snapshotFromValue } from './from-value.ts';
import type { HolderTable, Snapshot } from './tables.ts';

/**
 * The snapshot with the names of that file; it is left as it is, with a warning, where they cannot be read.
 * @param value what JSON.parse gave
 */
export function withHolders(snapshot: Snapshot, value: unknown): Snapshot {
  const { holders, strings, addresses } = snapshotFromValue({ segments: [], holders: value });
  if (holders === undefined) {
    const message = 'The .holders.json file beside the snapshot cannot be read.';
    return { ...snapshot, warnings: [...snapshot.warnings, { code: 'bad-value', message }] };
  }
  const own = snapshot.strings;
  const renumbered: HolderTable = {
    ...holders,
    address: holders.address.map((key) => snapshot.addresses.fromBigInt(addresses.toBigInt(key))),
    name: holders.name.map((row) => own.length + row),
  };
  const length = own.length + strings.length;
  const get = (row: number) => (row < own.length ? own.get(row) : strings.get(row - own.length));
  return { ...snapshot, strings: { length, get }, holders: renumbered };
}
