/**
 * Ways to color allocations: a class for each allocation, and for each class a label and a search for its allocations.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { classify } from '../../device/classes/classify.ts';
import { classLabels } from '../../device/classes/types.ts';
import { poolKind, privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import { annotationGroupKeys, innermostSpans } from '../../device/model/annotation-groups.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { absenceText, stackKind } from '../../device/model/stacks.ts';
import type { StackKind } from '../../device/model/types.ts';
import { searchTerm } from '../../device/search/qualifier.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import type { ColorBy } from '../timeline/types.ts';
import {
  type ColorClass,
  type Coloring,
  type ColorLabel,
  firstColoring,
} from './first-colorings.ts';
import { siteLabels } from './site-labels.ts';

/** @param classCount available colors: 240 by stack, 9 by size, 14 for all others (see palette.ts) */
export const makeColoring = (context: DeviceModel, colorBy: ColorBy, classCount: number) =>
  WAYS[colorBy].make(context, classCount);

/** Why a coloring would show nothing on this device; undefined if it is useful. */
export const unavailableReason = (context: DeviceModel, colorBy: ColorBy): string | undefined =>
  WAYS[colorBy].unavailable?.(context);

interface Way {
  make(context: DeviceModel, classCount: number): Coloring;
  unavailable?(context: DeviceModel): string | undefined;
}

const withoutStacks = ({ replay }: DeviceModel) =>
  replay.allocations.stack.some((stack) => stack > EMPTY_STACK) ? undefined : 'no stacks recorded';

const WAYS: Readonly<Record<ColorBy, Way>> = {
  class: {
    unavailable: withoutStacks,
    /** All classes of this device, regardless of their current size. */
    make(context) {
      const { classOf } = classify(context);
      const present = new Set(classOf);
      return { classOf, classes: classLabels().filter((one) => present.has(one.class)) };
    },
  },
  stack: {
    unavailable: withoutStacks,
    make: (context, classCount) => firstColoring(context, 'stack', classCount),
  },
  size: { make: (context, classCount) => firstColoring(context, 'size', classCount) },
  site: { unavailable: withoutStacks, make: grouped(sites) },
  stream: {
    unavailable: ({ trace }) => (trace.streams.length > 1 ? undefined : 'one stream only'),
    make: grouped(streams),
  },
  pool: { make: grouped(pools) },
  phase: {
    unavailable(context) {
      if (context.snapshot.annotations.length === 0) return 'no annotations recorded';
      return context.annotations().length > 0 ? undefined : 'no annotations on this device';
    },
    make: grouped(phases),
  },
  category: {
    unavailable: ({ trace }) => (trace.events.category === undefined ? 'none recorded' : undefined),
    make: grouped((context) => texts(context, 'category', 'category', 'no category')),
  },
  compile: {
    unavailable: ({ trace }) =>
      trace.events.compileContext === undefined ? 'nothing was compiled' : undefined,
    make: grouped((context) => texts(context, 'compileContext', 'compile', 'not compiled')),
  },
};

/** Classes: of allocations in no group, of groups too light for their own, and of the heaviest group. */
const CLASS_NONE = 0;
const CLASS_REST = 1;
const FIRST_GROUP_CLASS = 2;

/** Named groups of allocations: the heaviest get a color each. */
interface Groups {
  /** Group of an allocation, -1 for none. Called for each one, in order. */
  readonly of: (id: AllocationIndex) => number;
  readonly count: number;
  /** For what is in no group. */
  readonly none?: string;
  readonly noneTerm?: string;
  /** What the groups are, in '12 other sites'. */
  readonly plural: string;
  readonly labels: (groups: readonly number[]) => readonly ColorLabel[];
}

/**
 * The heaviest groups by name, each with its own class, so that no two important groups share a color; then one entry
 * for the others and one for allocations in no group. Weight is the bytes live at the peak of active memory; ties go by
 * bytes over all lifetimes, then by group number.
 */
function grouped(groupsIn: (context: DeviceModel) => Groups): Way['make'] {
  return (context, classCount) => {
    const { of, count, none = 'unknown', noneTerm, plural, labels } = groupsIn(context);
    const { length, start, end, sizeBytes } = context.replay.allocations;
    const peak = context.replay.peaks.activeBytes.event;
    const peakBytes = new Float64Array(count);
    const totalBytes = new Float64Array(count);
    // A loop: `Int32Array.from` with a function takes five times as long.
    const groupOf = new Int32Array(length);
    for (let id = 0; id < length; id++) {
      const group = of(id);
      groupOf[id] = group;
      if (group < 0) continue;
      totalBytes[group] += sizeBytes[id];
      if (start[id] <= peak && end[id] > peak) peakBytes[group] += sizeBytes[id];
    }
    const used = [...totalBytes.keys()].filter((group) => totalBytes[group] > 0);
    used.sort((a, b) => peakBytes[b] - peakBytes[a] || totalBytes[b] - totalBytes[a] || a - b);
    const named = used.slice(0, classCount - FIRST_GROUP_CLASS);
    const classOfGroup = new Uint8Array(count).fill(CLASS_REST);
    for (const [i, group] of named.entries()) classOfGroup[group] = FIRST_GROUP_CLASS + i;
    const classOf = new Uint8Array(length);
    for (let id = 0; id < length; id++) {
      classOf[id] = groupOf[id] < 0 ? CLASS_NONE : classOfGroup[groupOf[id]];
    }
    const classes: ColorClass[] = labels(named).map((meaning, i) => {
      return { class: FIRST_GROUP_CLASS + i, ...meaning };
    });
    if (used.length > named.length) {
      const label = `${used.length - named.length} other ${plural}`;
      const about = 'Too few bytes at the peak for a color of their own.';
      classes.push({ class: CLASS_REST, label, about, term: undefined });
    }
    if (groupOf.includes(-1)) {
      classes.push({ class: CLASS_NONE, label: none, about: '', term: noneTerm });
    }
    return { classOf, classes };
  };
}

/** Allocations without a stack are not a site: they may come from different places. */
function sites(context: DeviceModel): Groups {
  const { stacks, replay, snapshot } = context;
  const { stack, preexisting } = replay.allocations;
  const kinds = new Set<StackKind>();
  stack.forEach((own, id) => {
    const site = stacks.siteOf(own);
    if (site <= EMPTY_STACK) kinds.add(stackKind(site, id < preexisting));
  });
  const [kind = 'no-context'] = kinds;
  return {
    of(id) {
      const site = stacks.siteOf(stack[id]);
      return site > EMPTY_STACK ? site : -1;
    },
    count: snapshot.stacks.length,
    none: kinds.size > 1 ? 'without a call site' : absenceText(kind),
    plural: 'sites',
    labels: (rows) => siteLabels(context, rows),
  };
}

function streams({ trace, replay }: DeviceModel): Groups {
  const { stream } = replay.allocations;
  const labelOf = (row: number): ColorLabel => {
    const text = streamText(trace.streams[row]);
    const label = text === '0' ? 'default stream' : `stream ${text}`;
    return { label, about: '', term: searchTerm('stream', text) };
  };
  const count = Math.max(1, trace.streams.length);
  return { of: (id) => stream[id], count, plural: 'streams', labels: (rows) => rows.map(labelOf) };
}

/** The default pool is split into small and large; a private pool is one class. */
function pools(context: DeviceModel): Groups {
  const { pool, isSmall } = context.replay.allocations;
  const names = context.trace.pools.map(privatePoolText);
  const hasPrivate = names.some((name) => name !== undefined);
  const within = hasPrivate ? ` ${searchTerm('pool', 'default')}` : '';
  const labelOf = (group: number): ColorLabel => {
    const name = names[group - 2];
    if (group < 2 || name === undefined) {
      const word = group === 0 ? 'small' : 'large';
      return { label: `${word} pool`, about: '', term: `${searchTerm('pool', word)}${within}` };
    }
    const label = `${poolKind(context, group - 2) ?? ''} pool ${name}`;
    return { label, about: 'A private pool.', term: searchTerm('pool', name) };
  };
  return {
    of: (id) => (names[pool[id]] === undefined ? 1 - isSmall[id] : 2 + pool[id]),
    count: 2 + names.length,
    plural: 'pools',
    labels: (groups) => groups.map(labelOf),
  };
}

function phases(context: DeviceModel): Groups {
  const spans = context.annotations();
  const key = annotationGroupKeys(spans);
  const names = [...new Set(spans.map(({ name }) => key(name)))];
  const rowOf = new Map(names.map((name, row) => [name, row]));
  const isName = new Set(spans.map(({ name }) => name));
  const phaseOfSpan = spans.map(({ name }) => rowOf.get(key(name)) ?? -1);
  const { from, span } = innermostSpans(spans);
  const { start, preexisting } = context.replay.allocations;
  let at = 0;
  return {
    of(id) {
      if (id < preexisting) return -1;
      while (at + 1 < from.length && from[at + 1] <= start[id]) at++;
      return span[at] < 0 ? -1 : phaseOfSpan[span[at]];
    },
    count: names.length,
    none: 'outside all annotations',
    plural: 'phases',
    labels: (rows) =>
      rows.map((row) => ({
        label: names[row],
        about: 'Allocated inside it, and inside no annotation within it.',
        term: isName.has(names[row]) ? searchTerm('phase', names[row]) : undefined,
      })),
  };
}

/** By a text of the alloc event. `qualifier`: of the search. */
function texts(
  { snapshot: { strings }, trace, replay }: DeviceModel,
  name: 'category' | 'compileContext',
  qualifier: string,
  none: string,
): Groups {
  const column = trace.events[name];
  const { start, preexisting } = replay.allocations;
  return {
    of(id) {
      const text = id < preexisting ? undefined : column?.[start[id]];
      return text !== undefined && text > 0 ? text : -1;
    },
    count: strings.length,
    none,
    noneTerm: searchTerm(qualifier, ''),
    plural: 'others',
    labels: (rows) =>
      rows.map((row) => {
        const word = strings.get(row);
        return { label: word.replaceAll('_', ' '), about: '', term: searchTerm(qualifier, word) };
      }),
  };
}
