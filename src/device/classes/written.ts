/** What the program or the profiler wrote about allocations: `annotate` events, metadata, and categories. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/memoized.ts';
import {
  type EventIndex,
  type HolderKind,
  type StringTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { holderOf, holderRows } from '../model/holders.ts';
import { labelsOf } from './labels.ts';
import { type ClassSource, Evidence, MemoryClass } from './types.ts';

/**
 * The profiler's words, and those that a program puts first in its metadata: 'gradient blocks.0.qkv.weight'. What
 * only mentions such a word ('step 3, gradient accumulation') says nothing of one allocation.
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

/** The class that a text begins with; undefined where it begins with none. */
function classNamed(text: string): MemoryClass | undefined {
  return WORDS.find(([word]) => word.test(text))?.[1];
}

/** 'blocks.0.qkv.weight' of 'gradients: blocks.0.qkv.weight'; '' of what has no colon. */
function nameIn(text: string): string {
  const colon = text.indexOf(':');
  return colon < 0 ? '' : text.slice(colon + 1).trim();
}

/** What is written of one allocation. */
interface WrittenLabel {
  readonly id: AllocationIndex;
  /** Undefined where the text names none. */
  readonly class: MemoryClass | undefined;
  readonly name: string;
  readonly evidence: Evidence;
}

/** In the order in which they count: where an allocation has more than one, the last one holds. */
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

/** `annotate` events: each belongs to the allocation that is live at its address. */
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
      // Whoever annotates a tensor names it, with or without a class before the name.
      const name = text.class === undefined ? text.text : text.name;
      yield { id: found, class: text.class, name, evidence: Evidence.Metadata };
    }
    t = action.indexOf(TraceAction.Annotate, t + 1);
  }
}

/** What holds an allocation when the snapshot is taken says what it is to the model, and its name. */
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

interface ReadText {
  readonly text: string;
  readonly class: MemoryClass | undefined;
  readonly name: string;
}

type TextReader = (column: Int32Array | undefined, event: EventIndex) => ReadText | undefined;

/** Texts are few, and each is read once. Gives undefined where the event has no text. */
function textReader(strings: StringTable): TextReader {
  const read = memoized((row: number): ReadText => {
    const text = strings.get(row);
    return { text, class: classNamed(text), name: nameIn(text) };
  });
  return (column, event) => {
    const row = column?.[event] ?? -1;
    return row > 0 ? read(row) : undefined;
  };
}
