/**
 * Labels that a program put beside its snapshot: a list under the key `labels` of rows (time_us, address, class, name),
 * as the labelling recipe writes them. Each belongs to the allocation that was live at its address then.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { AddressSpace } from '../../base/address.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addTo } from '../../base/grouping.ts';
import type { LabelRow } from '../../format/snapshot/tables.ts';
import type { ClassSource } from './types.ts';

interface Label {
  readonly timeUs: number;
  /** As the address column has it. */
  readonly address: number;
  readonly kind: string;
  readonly name: string;
}

/** Where a tensor was labelled more than once, what comes first here holds: a saved parameter is a parameter. */
const RANKS = [
  'param',
  'buffer',
  'optim',
  'grad',
  'input',
  'comm',
  'work',
  'grow',
  'kept',
  'activ',
] as const;

/** The label of each allocation that has any. */
export function labelsOf({
  snapshot,
  trace,
  replay,
}: ClassSource): ReadonlyMap<AllocationIndex, Pick<Label, 'kind' | 'name'>> {
  const best = new Map<AllocationIndex, Label>();
  const { labels, addresses, startUs = 0 } = snapshot;
  const { timeUs } = trace.events;
  if (labels === undefined || addresses === undefined || timeUs === undefined) return best;
  const byAddress = new Map<number, Label[]>();
  for (const row of labels) {
    const label = labelIn(row, addresses);
    if (label !== undefined) addTo(byAddress, label.address, label);
  }
  const allocationsAt = new Map<number, AllocationIndex[]>();
  const { length, preexisting, address, start } = replay.allocations;
  for (let id = preexisting; id < length; id++) {
    if (byAddress.has(address[id])) addTo(allocationsAt, address[id], id);
  }
  for (const [at, own] of byAddress) {
    const ids = allocationsAt.get(at) ?? [];
    const times = Float64Array.from(ids, (id) => startUs + timeUs[start[id]]);
    for (const label of own) {
      const id = ids[upperBound(times, label.timeUs) - 1];
      if (id === undefined) continue;
      const known = best.get(id);
      if (known === undefined || rankOf(label) < rankOf(known)) best.set(id, label);
    }
  }
  return best;
}

/** Undefined for what is no such row. */
function labelIn(row: LabelRow, addresses: AddressSpace): Label | undefined {
  const [timeUs, address, kind, name = ''] = row;
  if (typeof timeUs !== 'number' || typeof kind !== 'string' || typeof name !== 'string') {
    return undefined;
  }
  if (typeof address !== 'number' || !Number.isSafeInteger(address)) return undefined;
  const key = addresses.find(BigInt(address));
  return key === undefined ? undefined : { timeUs, address: key, kind, name };
}

function rankOf({ kind }: Label): number {
  const rank = RANKS.findIndex((word) => kind.toLowerCase().startsWith(word));
  return rank < 0 ? RANKS.length : rank;
}
