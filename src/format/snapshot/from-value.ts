import { walkValue } from '../pickle/walk-value.ts';
import { assembleSnapshot } from './assemble.ts';
import { SnapshotSchema } from './schema.ts';
import type { Snapshot } from './tables.ts';

/**
 * The tables from a JavaScript value: JSON.parse's or pickleparser's result, dictionaries as
 * Map or plain objects. @throws LoadError 'not-a-snapshot'.
 */
export function snapshotFromValue(value: unknown): Snapshot {
  const schema = new SnapshotSchema();
  walkValue(schema.machine, value);
  schema.machine.finish();
  return assembleSnapshot(schema);
}
