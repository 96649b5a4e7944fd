/** What the program or the profiler wrote about allocations: `annotate` events, metadata, and categories. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { AddressSpace } from '../../base/address.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addTo, memoized } from '../../base/collections.ts';
import {
  type EventIndex,
  type HolderKind,
  type LabelRow,
  type StringTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { holderOf, holderRows } from '../model/holders.ts';
import { type ClassSource, Evidence, MemoryClass } from './types.ts';

/**
 * The profiler's words, and those a program puts first in its metadata: 'gradient blocks.0.qkv.weight'. A text that
 * only mentions such a word ('step 3, gradient accumulation') does not label an allocation.
 */
const WORDS: readonly (readonly [RegExp, MemoryClass])[] = [
  [/^optim(izer)?([ _-]?state)?\b/i, MemoryClass.OptimizerState],
  [/^grad(ient)?s?\b/i, MemoryClass.Gradients],
  [/^activations?\b/i, MemoryClass.Activations],
  [/^(param(eter)?s?|buffers?)\b/i, MemoryClass.Parameters],
  [/^inputs?\b/i, MemoryClass.Inputs],
  [/^(temp(orar(y|ies))?|autograd_detail)\b/i, MemoryClass.Temporaries],
  [/^(kv[ _-]?cache|growing([ _-]state)?)\b/i, MemoryClass.GrowingState],
  [/^workspaces?\b/i, MemoryClass.Workspaces],
  [/^kept\b/i, MemoryClass.Kept],
  [/^unknown\b/i, MemoryClass.Unknown],
  [/^(communication|collective)s?\b/i, MemoryClass.Communication],
];

/** The class that a text begins with, if any. */
function classNamed(text: string): MemoryClass | undefined {
  return WORDS.find(([word]) => word.test(text))?.[1];
}

/** 'gradients: blocks.0.qkv.weight' → 'blocks.0.qkv.weight'; '' without a colon. */
function nameIn(text: string): string {
  const colon = text.indexOf(':');
  return colon < 0 ? '' : text.slice(colon + 1).trim();
}

interface WrittenLabel {
  readonly id: AllocationIndex;
  /** Undefined if the text names no class. */
  readonly class: MemoryClass | undefined;
  readonly name: string;
  readonly evidence: Evidence;
}

/** In order of priority: for an allocation with several labels, the last one wins. */
export function* writtenLabels(source: ClassSource): Generator<WrittenLabel> {
  const { category, userMetadata } = source.trace.events;
  const read = textReader(source.snapshot.strings);
  if (category !== undefined || userMetadata !== undefined) {
    const { length, preexisting, start } = source.replay.allocations;
    for (let id = preexisting; id < length; id++) {
      const own = read(category, start[id]);
      if (own?.class !== undefined) yield { id, ...own, name: '', evidence: Evidence.Category };
      const metadata = read(userMetadata, start[id]);
      if (metadata?.class !== undefined) yield { id, ...metadata, evidence: Evidence.Metadata };
    }
  }
  yield* annotated(source, read);
  yield* held(source);
  for (const [id, { kind, name }] of labelsOf(source)) {
    yield { id, class: classNamed(kind), name, evidence: Evidence.Metadata };
  }
}

/** `annotate` events: each belongs to the allocation live at its address. */
function* annotated({ trace, replay }: ClassSource, read: TextReader): Generator<WrittenLabel> {
  const { userMetadata, action, address } = trace.events;
  const { length, start, end, address: addressOf } = replay.allocations;
  const live = new Map<number, AllocationIndex>();
  let id = 0;
  for (let t = action.indexOf(TraceAction.Annotate); t >= 0; ) {
    for (; id < length && start[id] <= t; id++) live.set(addressOf[id], id);
    const found = live.get(address[t]);
    const text = read(userMetadata, t);
    if (found !== undefined && end[found] > t && text !== undefined) {
      // Annotating a tensor names it, with or without a class before the name.
      const name = text.class === undefined ? text.text : text.name;
      yield { id: found, class: text.class, name, evidence: Evidence.Metadata };
    }
    t = action.indexOf(TraceAction.Annotate, t + 1);
  }
}

/** The variable that holds an allocation at snapshot time gives its class and its name. */
const CLASS_OF_KIND: Readonly<Partial<Record<HolderKind, MemoryClass>>> = {
  parameter: MemoryClass.Parameters,
  buffer: MemoryClass.Parameters,
  gradient: MemoryClass.Gradients,
  optimizer: MemoryClass.OptimizerState,
};

function* held(source: ClassSource): Generator<WrittenLabel> {
  for (const [id, row] of holderRows(source)?.entries() ?? []) {
    const holder = row < 0 ? undefined : holderOf(source, id);
    if (holder === undefined) continue;
    yield { id, class: CLASS_OF_KIND[holder.kind], name: holder.name, evidence: Evidence.Held };
  }
}

type TextReader = ReturnType<typeof textReader>;

/** Reads each distinct text once. Returns undefined if the event has no text. */
function textReader(strings: StringTable) {
  const read = memoized((row: number) => {
    const text = strings.get(row);
    return { text, class: classNamed(text), name: nameIn(text) };
  });
  return (column: Int32Array | undefined, event: EventIndex) => {
    const row = column?.[event] ?? -1;
    return row > 0 ? read(row) : undefined;
  };
}

/**
 * A label that a program stored in its snapshot: a list under the key `labels` with rows (time_us, address, class,
 * name), as in the labeling recipe. A label belongs to the allocation that was live at its address at that time.
 */

interface Label {
  readonly timeUs: number;
  /** In the same encoding as the address column. */
  readonly address: number;
  readonly kind: string;
  readonly name: string;
}

/** For a tensor labeled several times, the first of these wins: a saved parameter is a parameter. */
const RANKS = 'param buffer optim grad input comm work grow kept activ'.split(' ');

function labelsOf({ snapshot, trace, replay }: ClassSource): ReadonlyMap<AllocationIndex, Label> {
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

/** Undefined for malformed rows. */
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
