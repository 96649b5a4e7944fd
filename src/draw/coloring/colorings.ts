/**
 * Ways to color allocations: a class for each allocation, and for each class a label and a search for its allocations.
 */

import { classify } from '../../device/classes/classify.ts';
import { classLabels } from '../../device/classes/types.ts';
import { privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import { annotationGroupKeys, innermostSpans } from '../../device/model/annotation-groups.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { poolKind } from '../../device/model/pool-kinds.ts';
import { searchTerm } from '../../device/search/qualifier.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import type { ColorBy } from '../timeline/types.ts';
import { CLASS_NONE, CLASS_REST, classesByGroup, FIRST_GROUP_CLASS } from './classes.ts';
import {
  type ColorClass,
  type Coloring,
  type ColorLabel,
  firstColoring,
} from './first-colorings.ts';
import { siteLabels } from './site-labels.ts';

/** @param classCount available colors: 15 by stack, 9 by size, 14 for all others (see palette.ts) */
export function makeColoring(context: DeviceModel, colorBy: ColorBy, classCount: number): Coloring {
  switch (colorBy) {
    case 'class':
      return byClass(context);
    case 'stack':
    case 'size':
      return firstColoring(context, colorBy, classCount);
    case 'site':
      return bySite(context, classCount);
    case 'stream':
      return byStream(context, classCount);
    case 'pool':
      return byPool(context, classCount);
    case 'phase':
      return byPhase(context, classCount);
    case 'category': {
      const none = { label: 'no category', about: '', term: searchTerm('category', '') };
      const { category } = context.trace.events;
      return byText(context, classCount, category, none, (word) => searchTerm('category', word));
    }
    case 'compile': {
      const none = { label: 'not compiled', about: '', term: searchTerm('compile', '') };
      const { compileContext } = context.trace.events;
      return byText(context, classCount, compileContext, none, (word) =>
        searchTerm('compile', word),
      );
    }
  }
}

/** Why a coloring would show nothing on this device; undefined if it is useful. */
export function unavailableReason(context: DeviceModel, colorBy: ColorBy): string | undefined {
  const { trace, replay, snapshot } = context;
  switch (colorBy) {
    case 'size':
    case 'pool':
      return undefined;
    case 'class':
    case 'stack':
    case 'site':
      return replay.allocations.stack.some((stack) => stack > EMPTY_STACK)
        ? undefined
        : 'no stacks recorded';
    case 'stream':
      return trace.streams.length > 1 ? undefined : 'one stream only';
    case 'phase':
      if (snapshot.annotations.length === 0) return 'no annotations recorded';
      return context.annotations().length > 0 ? undefined : 'no annotations on this device';
    case 'category':
      return trace.events.category === undefined ? 'none recorded' : undefined;
    case 'compile':
      return trace.events.compileContext === undefined ? 'nothing was compiled' : undefined;
  }
}

/** By memory class: all classes of this device, regardless of their current size. */
function byClass(context: DeviceModel): Coloring {
  const { classOf } = classify(context);
  const present = new Set(classOf);
  return { classOf, classes: classLabels().filter((one) => present.has(one.class)) };
}

function bySite(context: DeviceModel, classCount: number): Coloring {
  const { stacks, replay } = context;
  const { stack } = replay.allocations;
  const { length } = context.snapshot.stacks;
  // Allocations without a stack are not a site: they may come from different places.
  const groupOf = groupsOf(stack.length, (id) => {
    const site = stacks.siteOf(stack[id]);
    return site > EMPTY_STACK ? site : -1;
  });
  const none = { label: 'no stack recorded', about: '', term: undefined };
  return grouped(context, classCount, groupOf, length, none, 'sites', (sites) =>
    siteLabels(context, sites),
  );
}

function byStream(context: DeviceModel, classCount: number): Coloring {
  const { streams } = context.trace;
  const { stream } = context.replay.allocations;
  const groupOf = groupsOf(stream.length, (id) => stream[id]);
  const count = Math.max(1, streams.length);
  return grouped(
    context,
    classCount,
    groupOf,
    count,
    NOTHING,
    'streams',
    each((row) => {
      const text = streamText(streams[row]);
      return {
        label: text === '0' ? 'default stream' : `stream ${text}`,
        about: '',
        term: searchTerm('stream', text),
      };
    }),
  );
}

/** The default pool is split into small and large; a private pool is one class. */
function byPool(context: DeviceModel, classCount: number): Coloring {
  const { pool, isSmall, length } = context.replay.allocations;
  const { pools } = context.trace;
  const names = pools.map(privatePoolText);
  const hasPrivate = names.some((name) => name !== undefined);
  const groupOf = groupsOf(length, (id) =>
    names[pool[id]] === undefined ? 1 - isSmall[id] : 2 + pool[id],
  );
  const within = hasPrivate ? ` ${searchTerm('pool', 'default')}` : '';
  return grouped(
    context,
    classCount,
    groupOf,
    2 + pools.length,
    NOTHING,
    'pools',
    each((group) => {
      const name = names[group - 2];
      if (group < 2 || name === undefined) {
        const word = group === 0 ? 'small' : 'large';
        return { label: `${word} pool`, about: '', term: `${searchTerm('pool', word)}${within}` };
      }
      const about = 'A private pool.';
      const kind = poolKind(context, group - 2) ?? '';
      return { label: `${kind} pool ${name}`, about, term: searchTerm('pool', name) };
    }),
  );
}

function byPhase(context: DeviceModel, classCount: number): Coloring {
  const spans = context.annotations();
  const key = annotationGroupKeys(spans);
  const names = [...new Set(spans.map(({ name }) => key(name)))];
  const rowOf = new Map(names.map((name, row) => [name, row]));
  const isName = new Set(spans.map(({ name }) => name));
  const phaseOfSpan = spans.map(({ name }) => rowOf.get(key(name)) ?? -1);
  const { from, span } = innermostSpans(spans);
  const { start, length, preexisting } = context.replay.allocations;
  const groupOf = new Int32Array(length).fill(-1);
  for (let id = preexisting, at = 0; id < length; id++) {
    while (at + 1 < from.length && from[at + 1] <= start[id]) at++;
    groupOf[id] = span[at] < 0 ? -1 : phaseOfSpan[span[at]];
  }
  const none = { label: 'outside all annotations', about: '', term: undefined };
  return grouped(
    context,
    classCount,
    groupOf,
    names.length,
    none,
    'phases',
    each((row) => ({
      label: names[row],
      about: 'Allocated inside it, and inside no annotation within it.',
      term: isName.has(names[row]) ? searchTerm('phase', names[row]) : undefined,
    })),
  );
}

function byText(
  context: DeviceModel,
  classCount: number,
  column: Int32Array | undefined,
  none: ColorLabel,
  term: (word: string) => string,
): Coloring {
  const { strings } = context.snapshot;
  const { start, length, preexisting } = context.replay.allocations;
  const groupOf = new Int32Array(length).fill(-1);
  for (let id = preexisting; id < length && column !== undefined; id++) {
    if (column[start[id]] > 0) groupOf[id] = column[start[id]];
  }
  return grouped(
    context,
    classCount,
    groupOf,
    strings.length,
    none,
    'others',
    each((row) => {
      const word = strings.get(row);
      return { label: word.replaceAll('_', ' '), about: '', term: term(word) };
    }),
  );
}

const each =
  (meaning: (group: number) => ColorLabel) =>
  (groups: readonly number[]): readonly ColorLabel[] =>
    groups.map(meaning);

/** A loop: `Int32Array.from` with a function takes five times as long. */
function groupsOf(length: number, of: (id: number) => number): Int32Array {
  const groups = new Int32Array(length);
  for (let id = 0; id < length; id++) groups[id] = of(id);
  return groups;
}

const NOTHING: ColorLabel = { label: 'unknown', about: '', term: undefined };

/** The heaviest groups by name, then one entry for the others and one for allocations in no group. */
function grouped(
  { replay }: DeviceModel,
  classCount: number,
  groupOf: Int32Array,
  groupCount: number,
  none: ColorLabel,
  plural: string,
  meanings: (groups: readonly number[]) => readonly ColorLabel[],
): Coloring {
  const peakEvent = replay.peaks.activeBytes.event;
  const groups = classesByGroup(replay.allocations, groupOf, groupCount, peakEvent, classCount);
  const classes: ColorClass[] = meanings(groups.named).map((meaning, i) => {
    return { class: FIRST_GROUP_CLASS + i, ...meaning };
  });
  if (groups.others > 0) {
    const label = `${groups.others} other ${plural}`;
    const about = 'Too few bytes at the peak for a color of their own.';
    classes.push({ class: CLASS_REST, label, about, term: undefined });
  }
  if (groupOf.includes(-1)) classes.push({ class: CLASS_NONE, ...none });
  return { classOf: groups.classOf, classes };
}
