/**
 * Labels that a program put beside its snapshot: a list under the key `labels` of rows (time_us, address, class, name),
 * as the labelling recipe writes them. Each belongs to the allocation that was live at its address then, and
 * becomes the metadata of that allocation's event: 'gradients: blocks.0.qkv.weight'.
 */
import type { AddressSpace } from '../base/address.ts';
import { upperBound } from '../base/binary-search.ts';
import type { DictEntry } from '../pickle/retained-values.ts';
import type { SnapshotSchema } from './schema.ts';
import { type DeviceTrace, type EventIndex, TraceAction } from './tables.ts';

interface Label {
  readonly timeUs: number;
  readonly address: number;
  readonly kind: string;
  readonly text: string;
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

/** The devices with their labels; as they were where the file has none that can be read. */
export function withLabels(
  devices: readonly DeviceTrace[],
  schema: SnapshotSchema,
  entry: DictEntry | undefined,
): readonly DeviceTrace[] {
  const labels = readLabels(schema, entry);
  if (labels.length === 0) return devices;
  const byAddress = new Map<number, Label[]>();
  for (const label of labels) {
    const own = byAddress.get(label.address);
    if (own === undefined) byAddress.set(label.address, [label]);
    else own.push(label);
  }
  return devices.map((device) => labelled(device, byAddress, schema));
}

function readLabels(schema: SnapshotSchema, entry: DictEntry | undefined): Label[] {
  const { kept } = schema.machine;
  const runs = entry === undefined ? [] : (kept.items(entry.tag, entry.val) ?? []);
  return runs.flatMap(({ tag, first }) => {
    const label = labelOf(kept.toValue(tag, first), schema.fields.addresses);
    return label === undefined ? [] : [label];
  });
}

function labelOf(row: unknown, addresses: AddressSpace): Label | undefined {
  if (!Array.isArray(row)) return undefined;
  const [timeUs, address, kind, name]: readonly unknown[] = row;
  if (typeof timeUs !== 'number' || typeof kind !== 'string') return undefined;
  if (typeof address !== 'bigint' && !Number.isSafeInteger(address)) return undefined;
  const key = addresses.find(BigInt(address as bigint | number));
  if (key === undefined) return undefined;
  const text = typeof name === 'string' && name !== '' ? `${kind}: ${name}` : kind;
  return { timeUs, address: key, kind, text };
}

function labelled(
  device: DeviceTrace,
  byAddress: ReadonlyMap<number, readonly Label[]>,
  schema: SnapshotSchema,
): DeviceTrace {
  const { events } = device;
  const { action, address, timeUs, length } = events;
  if (timeUs === undefined) return device;
  const allocsAt = new Map<number, EventIndex[]>();
  for (let t = 0; t < length; t++) {
    if (action[t] !== TraceAction.Alloc || !byAddress.has(address[t])) continue;
    const own = allocsAt.get(address[t]);
    if (own === undefined) allocsAt.set(address[t], [t]);
    else own.push(t);
  }
  const best = new Map<EventIndex, Label>();
  for (const [at, labels] of byAddress) {
    const allocs = allocsAt.get(at) ?? [];
    const times = Float64Array.from(allocs, (t) => timeUs[t]);
    for (const label of labels) {
      const event = allocs[upperBound(times, label.timeUs) - 1];
      if (event === undefined) continue;
      const known = best.get(event);
      if (known === undefined || rankOf(label) < rankOf(known)) best.set(event, label);
    }
  }
  if (best.size === 0) return device;
  const userMetadata = events.userMetadata?.slice() ?? new Int32Array(length).fill(-1);
  for (const [event, { text }] of best) {
    userMetadata[event] = schema.machine.strings.internText(text);
  }
  return { ...device, events: { ...events, userMetadata } };
}

function rankOf({ kind }: Label): number {
  const rank = RANKS.findIndex((word) => kind.toLowerCase().startsWith(word));
  return rank < 0 ? RANKS.length : rank;
}
