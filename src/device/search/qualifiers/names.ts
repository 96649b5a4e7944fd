/** Qualifiers for a name: of a class, a part of the memory account, a variable, an annotation, an event's label, or code. */
import { type AllocationIndex, NEVER, type Replay } from '../../../allocator/replay/types.ts';
import { lowerBound } from '../../../base/binary-search.ts';
import { NO_STACK, type Snapshot } from '../../../format/snapshot/tables.ts';
import { classify } from '../../classes/classify.ts';
import { MEMORY_CLASS_ORDER, MEMORY_CLASSES, type MemoryClassId } from '../../classes/types.ts';
import { siteOfAllocation } from '../../model/call-sites.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { holderRows, holderTotals, NO_HOLDERS } from '../../model/holders.ts';
import {
  allocationLabeled,
  frameText,
  type Matcher,
  maskOf,
  matching,
  noteOfTimes,
  onceForEach,
  type Qualifier,
  stacksOfFrames,
} from '../qualifier.ts';

/** Accepted words that are not a prefix of a class's name. */
const OTHER_NAMES: Readonly<Record<string, MemoryClassId>> = {
  buffers: 'parameters',
  'kv-cache': 'growing-state',
};

/** A row of the memory account or a finding: its name and its blocks. */
export interface NamedPart {
  readonly name: string;
  readonly allocations: Iterable<AllocationIndex>;
}

/** By replay: a part is known after the analysis has named it, as long as its snapshot is open. */
const PARTS = new WeakMap<Replay, ReadonlyMap<string, NamedPart['allocations']>>();

/** Call before searching for one of the parts; it invalidates earlier search results. */
export function nameParts({ replay }: DeviceModel, parts: readonly NamedPart[]): void {
  PARTS.set(replay, new Map(parts.map(({ name, allocations }) => [name, allocations])));
}

/** Maximum number of suggested values. */
const MOST_OWNERS = 200;

/** A column's value in the alloc event, matched exactly; '' finds allocations without one. */
const carried = (
  column: 'category' | 'compileContext',
  texts: Pick<Qualifier, 'help' | 'examples'>,
  whereNone: string,
): Qualifier => ({
  ...texts,
  read: (wanted) =>
    matching(
      ({ snapshot: { strings }, trace, replay }) => {
        const { start, preexisting } = replay.allocations;
        const rows = trace.events[column];
        const isHit = onceForEach(strings.length, (row) => strings.get(row) === wanted);
        return (id) => isHit(id < preexisting ? 0 : Math.max(0, rows?.[start[id]] ?? 0));
      },
      ({ trace }) => (trace.events[column] === undefined ? whereNone : undefined),
    ),
  values({ snapshot, trace }) {
    const rows = [...new Set<number>(trace.events[column])].filter((row) => row > 0);
    return rows.map((row) => snapshot.strings.get(row));
  },
});

export const NAMES = {
  class: {
    help: MEMORY_CLASSES.map(({ id }) => id).join(', '),
    examples: ['class:gradients', 'class:optimizer'],
    words: Object.fromEntries(
      MEMORY_CLASS_ORDER.map((of) => [MEMORY_CLASSES[of].id, MEMORY_CLASSES[of].about]),
    ),
    /** A class's name or an unambiguous prefix: 'optimizer', 'grad'. */
    read(value) {
      const word: string = OTHER_NAMES[value.toLowerCase()] ?? value.toLowerCase();
      const begins = MEMORY_CLASS_ORDER.filter((of) => MEMORY_CLASSES[of].id.startsWith(word));
      if (word === '' || begins.length !== 1) return undefined;
      return matching((device) => {
        const { classOf } = classify(device);
        return (id) => classOf[id] === begins[0];
      });
    },
  },
  part: {
    help: 'a row of "Where the memory is", or a finding',
    examples: ['part:kept', 'part:growth-1'],
    read: (value) => (value === '' ? undefined : inPart(value.toLowerCase())),
  },
  /**
   * What a variable held at snapshot time, by part of its name in any case; '^losses' is only the variable `losses` and
   * what is reached through it. '' finds live allocations without a name.
   */
  holder: {
    help: 'the variable that held it when the snapshot was taken',
    examples: ['holder:losses'],
    read: (name) => ({ allocations: (device) => heldBy(device, name) }),
    values(device) {
      const owners = holderTotals(device).slice(0, MOST_OWNERS);
      return [...new Set(owners.map(({ owner }) => owner.name))];
    },
  },
  /** Allocated inside an annotation with exactly that name. */
  phase: {
    help: 'the name of an annotation',
    examples: ['phase:"forward"'],
    read: (name) => ({ allocations: (device) => inAnnotation(device, name) }),
    values: (device) => [...new Set(device.annotations().map(({ name }) => name))],
  },
  category: carried(
    'category',
    { help: 'a category', examples: ['category:activation'] },
    'No event of this trace has a category.',
  ),
  compile: carried(
    'compileContext',
    { help: 'a compile context', examples: ['compile:"Torch-Compiled Region: 0/0"'] },
    'No event has a compile context.',
  ),
} as const satisfies Readonly<Record<string, Qualifier>>;

const inPart = (name: string): Matcher => ({
  allocations({ replay }) {
    const known = PARTS.get(replay);
    const mask = new Uint8Array(replay.allocations.length);
    for (const id of known?.get(name) ?? []) mask[id] = 1;
    const note =
      known === undefined
        ? 'The parts are known once the analysis is done.'
        : `There is no part "${name}" in "Where the memory is", and no such finding.`;
    return { mask, note };
  },
});

function heldBy({ snapshot, replay }: DeviceModel, wanted: string) {
  const { length, end } = replay.allocations;
  const rows = holderRows({ snapshot, replay });
  const { holders, strings } = snapshot;
  if (rows === undefined || holders === undefined) {
    return { mask: new Uint8Array(length), note: NO_HOLDERS };
  }
  if (wanted === '') return { mask: maskOf(length, (id) => rows[id] < 0 && end[id] === NEVER) };
  const word = wanted.toLowerCase();
  const begins = wanted.startsWith('^') ? wanted.slice(1) : undefined;
  const isHit = onceForEach(strings.length, (row) => {
    const name = strings.get(row);
    if (begins === undefined) return name.toLowerCase().includes(word);
    return name.startsWith(begins) && /^[.[]?$/.test(name.charAt(begins.length));
  });
  return {
    mask: maskOf(length, (id) => rows[id] >= 0 && isHit(holders.name[rows[id]])),
    note: 'No variable with that name held memory when the snapshot was taken.',
  };
}

function inAnnotation(device: DeviceModel, name: string) {
  const { length, start, preexisting } = device.replay.allocations;
  const spans = device.annotations().filter((span) => span.name === name);
  const mask = new Uint8Array(length);
  // Annotations come by start, so what an earlier one filled is skipped.
  let filled = preexisting;
  for (const { startEvent, endEvent } of spans) {
    const to = lowerBound(start, endEvent, filled);
    mask.fill(1, lowerBound(start, startEvent, filled), to);
    filled = Math.max(filled, to);
  }
  const unknown = spans.length === 0 ? `This device has no annotation "${name}".` : undefined;
  const hasAny = device.snapshot.annotations.length > 0;
  const note = hasAny ? (noteOfTimes(device) ?? unknown) : 'This snapshot has no annotations.';
  return { mask, note };
}

const ALLOCATION_LABEL = /^b[0-9a-f]{1,16}_\d{1,9}$/i;

export const STACKS = {
  /** The stack contains exactly that frame. */
  frame: {
    help: 'a function, a file and a line',
    examples: ['frame:"forward@model.py:12"'],
    read: (frame) =>
      frame === ''
        ? undefined
        : { stacks: (device) => stacksOfFrames(device, framesSpelled(device.snapshot, frame)) },
  },
  /** The call site of one allocation, see `siteOfAllocation`. */
  site: {
    help: 'the name of an allocation',
    examples: ['site:b7f064c000000_0'],
    read: (label) =>
      ALLOCATION_LABEL.test(label)
        ? {
            allocations: (device) => allocationsOfSite(device, label.toLowerCase()),
            stacks: (device) => stacksOfSite(device, label.toLowerCase()),
          }
        : undefined,
  },
} as const satisfies Readonly<Record<string, Qualifier>>;

/** By FrameIndex: 1 = the frame has this spelling, as `frameText` writes it. */
function framesSpelled({ strings, frames }: Snapshot, spelling: string): Uint8Array {
  // Only these can be part of it, so few spellings need to be built.
  const isPart = onceForEach(strings.length, (row) => spelling.includes(strings.get(row)));
  return maskOf(frames.length, (frame) => {
    if (!isPart(frames.name[frame]) || !isPart(frames.filename[frame])) return false;
    const name = strings.get(frames.name[frame]);
    const filename = strings.get(frames.filename[frame]);
    return frameText({ name, filename, line: frames.line[frame] }) === spelling;
  });
}

function siteLabeled(device: DeviceModel, label: string) {
  const { allocation, note } = allocationLabeled(device, label);
  return { site: allocation < 0 ? undefined : siteOfAllocation(device, allocation), note };
}

function allocationsOfSite(device: DeviceModel, label: string) {
  const { site, note } = siteLabeled(device, label);
  const { length } = device.replay.allocations;
  return { mask: maskOf(length, (id) => siteOfAllocation(device, id) === site), note };
}

function stacksOfSite(device: DeviceModel, label: string) {
  const { snapshot, stacks } = device;
  const { site, note } = siteLabeled(device, label);
  const rows = snapshot.stacks.length - NO_STACK;
  return { mask: maskOf(rows, (row) => stacks.siteOf(row + NO_STACK) === site), note };
}
