/** Qualifiers for a name: of a class, a part of the memory account, a variable, an annotation, or an event's label. */
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
import { type AllocationQualifier, quotedTerm } from '../qualifier.ts';

export interface NamedCondition<Kind extends string> {
  readonly kind: Kind;
  readonly name: string;
}
type NameQualifier<Kind extends string> = AllocationQualifier<NamedCondition<Kind>>;

/** Shared by qualifiers whose value is any quoted text. */
const named = <Kind extends string>(
  kind: Kind,
): Pick<NameQualifier<Kind>, 'name' | 'parse' | 'suggest'> => ({
  name: kind,
  parse: (name) => ({ kind, name }),
  suggest: (names) => names.map((name) => ({ term: quotedTerm(kind, name), hint: '' })),
});

export interface ClassCondition {
  readonly kind: 'class';
  readonly class: MemoryClass;
}

/** Accepted words that are not a prefix of a class's name. */
const OTHER_NAMES: Readonly<Record<string, MemoryClassId>> = {
  buffers: 'parameters',
  'kv-cache': 'growing-state',
};

export const CLASS: AllocationQualifier<ClassCondition> = {
  name: 'class',
  help: MEMORY_CLASSES.map(({ id }) => id).join(', '),
  examples: ['class:gradients', 'class:optimizer'],
  parse(value) {
    // A class's name or an unambiguous prefix: 'optimizer', 'grad'.
    const word: string = OTHER_NAMES[value.toLowerCase()] ?? value.toLowerCase();
    const begins = MEMORY_CLASS_ORDER.filter((of) => MEMORY_CLASSES[of].id.startsWith(word));
    return word === '' || begins.length !== 1 ? undefined : { kind: 'class', class: begins[0] };
  },
  match(context, condition) {
    const { classOf } = classify(context);
    return { mask: maskOf(classOf.length, (id) => classOf[id] === condition.class) };
  },
  suggest: () => classLabels().map(({ term, about }) => ({ term, hint: about })),
};

/** A part of the memory account: its name and its blocks. */
export interface NamedPart {
  readonly name: string;
  readonly allocations: readonly AllocationIndex[];
}

/** By replay: a part is known after the analysis has named it, as long as its snapshot is open. */
const PARTS = new WeakMap<Replay, ReadonlyMap<string, NamedPart['allocations']>>();

/** Call before searching for one of the parts; it invalidates earlier search results. */
export function nameParts({ replay }: DeviceModel, parts: readonly NamedPart[]): void {
  PARTS.set(replay, new Map(parts.map(({ name, allocations }) => [name, allocations])));
}

export const PART: NameQualifier<'part'> = {
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

/** The blocks of one part of the memory account: part:kept-2. */
export const partTerm = (name: string): string => `part:${name}`;

/** Maximum number of suggested values. */
const MOST_OWNERS = 200;

/** What a variable held at snapshot time, by part of its name in any case; '' finds live allocations without a name. */
export const HOLDER: NameQualifier<'holder'> = {
  ...named('holder'),
  help: 'the variable that held it when the snapshot was taken',
  examples: ['holder:losses'],
  match({ snapshot, replay }, { name }) {
    const { length, end } = replay.allocations;
    const rows = holderRows({ snapshot, replay });
    const { holders, strings } = snapshot;
    if (rows === undefined || holders === undefined) {
      return { mask: new Uint8Array(length), note: NO_NAMES };
    }
    if (name === '') return { mask: maskOf(length, (id) => rows[id] < 0 && end[id] === NEVER) };
    const word = name.toLowerCase();
    const isHit = onceForEach(strings.length, (row) =>
      strings.get(row).toLowerCase().includes(word),
    );
    return {
      mask: maskOf(length, (id) => rows[id] >= 0 && isHit(holders.name[rows[id]])),
      note: 'No variable with that name held memory when the snapshot was taken.',
    };
  },
  values(context) {
    const owners = holderTotals(context).slice(0, MOST_OWNERS);
    return [...new Set(owners.map(({ owner }) => owner.name))];
  },
};

const NO_NAMES =
  'This file has no names of variables: record it with vramscope.record, or write them with vramscope.holders.';

/** '' finds allocations that no variable leads to. */
export const holderTerm = (name: string): string => quotedTerm('holder', name);

/** Allocated inside an annotation with exactly that name. */
export const PHASE: NameQualifier<'phase'> = {
  ...named('phase'),
  help: 'the name of an annotation',
  examples: ['phase:"forward"'],
  match(context, { name }) {
    const { length, start, preexisting } = context.replay.allocations;
    const spans = context.annotations().filter((span) => span.name === name);
    const mask = new Uint8Array(length);
    // Annotations come by start, so what an earlier one filled is skipped.
    let filled = preexisting;
    for (const { startEvent, endEvent } of spans) {
      const to = lowerBound(start, endEvent, filled);
      mask.fill(1, lowerBound(start, startEvent, filled), to);
      filled = Math.max(filled, to);
    }
    const unknown = spans.length === 0 ? `This device has no annotation "${name}".` : undefined;
    const hasAny = context.snapshot.annotations.length > 0;
    const note = hasAny ? (noteOfTimes(context) ?? unknown) : 'This snapshot has no annotations.';
    return { mask, note };
  },
  values: (context) => [...new Set(context.annotations().map(({ name }) => name))],
};

export const phaseTerm = (name: string): string => quotedTerm('phase', name);

/** A column's value in the alloc event, matched exactly; '' finds allocations without one. */
const carried = <Kind extends string>(
  kind: Kind,
  column: 'category' | 'compileContext',
  texts: Pick<NameQualifier<Kind>, 'help' | 'examples'>,
  whereNone: string,
): NameQualifier<Kind> => ({
  ...named(kind),
  ...texts,
  match: (context, { name }) => ({
    mask: allocationsLabelled(context, context.trace.events[column], name),
    note: context.trace.events[column] === undefined ? whereNone : undefined,
  }),
  values: (context) => labelsIn(context, context.trace.events[column]),
});

export const CATEGORY = carried(
  'category',
  'category',
  { help: 'a category', examples: ['category:activation'] },
  'No event of this trace has a category.',
);

export const COMPILE = carried(
  'compile',
  'compileContext',
  { help: 'a compile context', examples: ['compile:"Torch-Compiled Region: 0/0"'] },
  'No event has a compile context.',
);

/** '' finds allocations without a category. */
export const categoryTerm = (name: string): string => quotedTerm('category', name);

/** '' finds allocations outside compiled regions. */
export const compileTerm = (context: string): string => quotedTerm('compile', context);
