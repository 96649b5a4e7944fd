import { type AllocationIndex, NEVER, type Replay } from '../../../allocator/replay/types.ts';
import { lowerBound } from '../../../base/binary-search.ts';
import { classify } from '../../classes/classify.ts';
import {
  classLabels,
  MEMORY_CLASS_ORDER,
  MEMORY_CLASSES,
  type MemoryClass,
  type MemoryClassId,
} from '../../classes/types.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { holderRows, holderTotals } from '../../model/holders.ts';
import { allocationsLabelled, labelsIn, maskOf, noteOfTimes, onceForEach } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

export interface ClassCondition {
  readonly kind: 'class';
  readonly class: MemoryClass;
}

/** Words that are no beginning of a class's name. */
const OTHER_NAMES: Readonly<Record<string, MemoryClassId>> = {
  buffers: 'parameters',
  'kv-cache': 'growing-state',
};

export const CLASS: AllocationQualifier<ClassCondition> = {
  name: 'class',
  help: `${MEMORY_CLASSES.map(({ id }) => id).join(', ')}`,
  examples: ['class:gradients', 'class:optimizer'],
  parse(value) {
    const found = classNamed(value.toLowerCase());
    return found === undefined ? undefined : { kind: 'class', class: found };
  },
  match(context, condition) {
    const { classOf } = classify(context);
    return { mask: maskOf(classOf.length, (id) => classOf[id] === condition.class) };
  },
  suggest: () => classLabels().map(({ term, about }) => ({ term, hint: about })),
};

/** A class's name, or the beginning of one that no other has: 'optimizer', 'grad'. */
function classNamed(value: string): MemoryClass | undefined {
  const whole: string = OTHER_NAMES[value] ?? value;
  const begins = MEMORY_CLASS_ORDER.filter((of) => MEMORY_CLASSES[of].id.startsWith(whole));
  return whole !== '' && begins.length === 1 ? begins[0] : undefined;
}

/** A part of the account, by the name that it was given. */
export interface PartCondition {
  readonly kind: 'part';
  readonly name: string;
}

/** What a part of the account is called, and the blocks that it is. */
export interface NamedPart {
  readonly name: string;
  readonly allocations: readonly AllocationIndex[];
}

/** By replay: a part is known once the analysis has named it, and for as long as its snapshot is open. */
const PARTS = new WeakMap<Replay, ReadonlyMap<string, NamedPart['allocations']>>();

/** To be called before a search asks for one of them; searches that were answered before are wrong then. */
export function nameParts({ replay }: DeviceModel, parts: readonly NamedPart[]): void {
  PARTS.set(replay, new Map(parts.map(({ name, allocations }) => [name, allocations])));
}

export const PART: AllocationQualifier<PartCondition> = {
  name: 'part',
  help: 'a row of "Where the memory is"',
  examples: ['part:kept'],
  parse: (value) => (value === '' ? undefined : { kind: 'part', name: value.toLowerCase() }),
  match({ replay }, { name }) {
    const known = PARTS.get(replay);
    const mask = new Uint8Array(replay.allocations.length);
    for (const id of known?.get(name) ?? []) mask[id] = 1;
    const note =
      known === undefined
        ? 'The parts are known once the analysis is done.'
        : `There is no part "${name}" in "Where the memory is".`;
    return { mask, note };
  },
};

/** The blocks of one part of the account: part:kept-2. */
export const partTerm = (name: string): string => `part:${name}`;

/** What a variable of the program held when the snapshot was taken. */
export interface HolderCondition {
  readonly kind: 'holder';
  /** A part of the name, in any case; '' finds what is live at the end and has no name. */
  readonly name: string;
}

/** Values that are offered: more are not read. */
const MOST_OWNERS = 200;

export const HOLDER: AllocationQualifier<HolderCondition> = {
  name: 'holder',
  help: 'the variable that held it when the snapshot was taken',
  examples: ['holder:losses'],
  parse: (name) => ({ kind: 'holder', name }),
  match({ snapshot, replay }, { name }) {
    const { length, end } = replay.allocations;
    const mask = new Uint8Array(length);
    const rows = holderRows({ snapshot, replay });
    const { holders, strings } = snapshot;
    if (rows === undefined || holders === undefined) return { mask, note: NO_NAMES };
    if (name === '') {
      for (let id = 0; id < length; id++) if (rows[id] < 0 && end[id] === NEVER) mask[id] = 1;
      return { mask };
    }
    const word = name.toLowerCase();
    const isHit = onceForEach(strings.length, (row) =>
      strings.get(row).toLowerCase().includes(word),
    );
    for (let id = 0; id < length; id++) {
      if (rows[id] >= 0 && isHit(holders.name[rows[id]])) mask[id] = 1;
    }
    return { mask, note: 'No variable with that name held memory when the snapshot was taken.' };
  },
  values: (context) => [
    ...new Set(
      holderTotals(context)
        .slice(0, MOST_OWNERS)
        .map(({ owner }) => owner.name),
    ),
  ],
  suggest: (names) => names.map((name) => ({ term: holderTerm(name), hint: '' })),
};

const NO_NAMES =
  'This file has no names of variables: record it with vramscope.record, or write them with vramscope.holders.';

/** '' finds what no variable leads to. */
export function holderTerm(name: string): string {
  return `holder:${quoteText(name)}`;
}

/** Allocated inside an annotation of exactly that name. */
export interface PhaseCondition {
  readonly kind: 'phase';
  readonly name: string;
}

export const PHASE: AllocationQualifier<PhaseCondition> = {
  name: 'phase',
  help: 'the name of an annotation',
  examples: ['phase:"forward"'],
  parse: (name) => ({ kind: 'phase', name }),
  match: (context, { name }) => ({
    mask: annotationMask(context, name),
    note: noteOfAnnotation(context, name),
  }),
  values: (context) => [...new Set(context.annotations().map(({ name }) => name))],
  suggest: (names) => names.map((name) => ({ term: phaseTerm(name), hint: '' })),
};

/** Allocations whose alloc event lies inside an annotation of that name. */
function annotationMask(context: DeviceModel, name: string): Uint8Array {
  const { length, start, preexisting } = context.replay.allocations;
  const mask = new Uint8Array(length);
  // Annotations come by start: what an earlier one filled need not be filled again.
  let filled = preexisting;
  for (const span of context.annotations()) {
    if (span.name !== name) continue;
    const from = lowerBound(start, span.startEvent, filled);
    const to = lowerBound(start, span.endEvent, filled);
    mask.fill(1, from, to);
    filled = Math.max(filled, to);
  }
  return mask;
}

function noteOfAnnotation(context: DeviceModel, name: string): string | undefined {
  if (context.snapshot.annotations.length === 0) return 'This snapshot has no annotations.';
  const withoutTimes = noteOfTimes(context);
  if (withoutTimes !== undefined) return withoutTimes;
  const isKnown = context.annotations().some((span) => span.name === name);
  return isKnown ? undefined : `This device has no annotation "${name}".`;
}

/** Allocations made inside annotations of that name. */
export function phaseTerm(name: string): string {
  return `phase:${quoteText(name)}`;
}

export interface CategoryCondition {
  readonly kind: 'category';
  /** Exactly that category; '' is none. */
  readonly name: string;
}

export const CATEGORY: AllocationQualifier<CategoryCondition> = {
  name: 'category',
  help: 'a category',
  examples: ['category:activation'],
  parse: (name) => ({ kind: 'category', name }),
  match(context, { name }) {
    const { category } = context.trace.events;
    return {
      mask: allocationsLabelled(context, category, name),
      note: category === undefined ? 'No event of this trace has a category.' : undefined,
    };
  },
  values: (context) => labelsIn(context, context.trace.events.category),
  suggest: (names) => names.map((name) => ({ term: categoryTerm(name), hint: '' })),
};

/** '' finds allocations without a category. */
export function categoryTerm(name: string): string {
  return `category:${quoteText(name)}`;
}

export interface CompileCondition {
  readonly kind: 'compile';
  /** Exactly that compile context; '' is none. */
  readonly context: string;
}

export const COMPILE: AllocationQualifier<CompileCondition> = {
  name: 'compile',
  help: 'a compile context',
  examples: ['compile:"Torch-Compiled Region: 0/0"'],
  parse: (context) => ({ kind: 'compile', context }),
  match(device, { context }) {
    const { compileContext } = device.trace.events;
    return {
      mask: allocationsLabelled(device, compileContext, context),
      note: compileContext === undefined ? 'No event has a compile context.' : undefined,
    };
  },
  values: (device) => labelsIn(device, device.trace.events.compileContext),
  suggest: (contexts) => contexts.map((context) => ({ term: compileTerm(context), hint: '' })),
};

/** '' finds allocations outside compiled regions. */
export function compileTerm(context: string): string {
  return `compile:${quoteText(context)}`;
}
