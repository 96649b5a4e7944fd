/** Looks for the snapshot in values that hold one, such as `{'rank': 0, 'snapshot': {…}}`. */
import { LoadError } from '../../base/load-error.ts';
import { snapshotFromValue } from '../snapshot/from-value.ts';
import type { Snapshot } from '../snapshot/tables.ts';

/** A wrapper is small and flat; these bounds keep a hostile one from taking long. */
const MAX_DEPTH = 4;
const MAX_VISITED = 10_000;
const SNAPSHOT_KEYS = ['segments', 'device_traces', 'traces', 'host_segments', 'host_traces'];

/**
 * The snapshot that `value` is or holds, the least deep first; undefined when there is none.
 * @throws LoadError when what looks like a snapshot is broken
 */
export function findSnapshot(value: unknown): Snapshot | undefined {
  const visited = new Set<unknown>([value]);
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    for (const candidate of level) {
      const snapshot = looksLikeSnapshot(candidate) ? tryValue(candidate) : undefined;
      if (snapshot !== undefined) return snapshot;
    }
    const next: unknown[] = [];
    for (const holder of level) {
      for (const child of children(holder)) {
        if (visited.size >= MAX_VISITED) break;
        if (typeof child !== 'object' || child === null || visited.has(child)) continue;
        visited.add(child);
        next.push(child);
      }
    }
    level = next;
  }
  return undefined;
}

function tryValue(value: unknown): Snapshot | undefined {
  try {
    return snapshotFromValue(value);
  } catch (error) {
    if (error instanceof LoadError && error.failure.code === 'not-a-snapshot') return undefined;
    throw error;
  }
}

/** A dictionary with one of PyTorch's keys, or a bare list of segments. */
function looksLikeSnapshot(value: unknown): boolean {
  if (Array.isArray(value)) return field(value[0], 'blocks') !== undefined;
  return SNAPSHOT_KEYS.some((key) => Array.isArray(field(value, key)));
}

function field(value: unknown, key: string): unknown {
  if (value instanceof Map) return value.get(key);
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function children(value: unknown): Iterable<unknown> {
  if (value instanceof Map) return value.values();
  if (Array.isArray(value)) return value;
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return [];
  return Object.values(value);
}
