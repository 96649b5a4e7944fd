/** What a qualifier of the search language is, such as the `size` of `size>64MiB`, and how terms are written. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex, StringIndex } from '../../format/snapshot/tables.ts';
import { findAllocation } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import type { FrameView } from '../model/types.ts';

/** The allocations that match a term, before its sign is applied. */
export interface TermAnswer {
  /** By AllocationIndex. */
  readonly mask: Uint8Array;
  /** By FrameIndex: the frames that the term names; undefined if it names none. */
  readonly frames?: Uint8Array | undefined;
  /** Why the mask is empty, if it is. */
  readonly note?: string | undefined;
}

/** Without `allocations`, those of the matching stacks match. Without `stacks`, no stack does. */
export interface Matcher {
  /** `at`: the event after which states and ages are taken. */
  allocations?(device: DeviceModel, at: EventIndex): TermAnswer;
  /** Index of the mask: stack + 1. Also decides for events without an allocation. */
  stacks?(device: DeviceModel): TermAnswer;
}

export interface Qualifier {
  /** Describes the allowed values, in help and in error messages. */
  readonly help: string;
  /** Whole terms as examples, shown in the same places. */
  readonly examples: readonly string[];
  /** Whether < and > make sense; otherwise only = and :, which mean the same, are allowed. */
  readonly isComparable?: boolean;
  /** Whether its matches change with the cursor. */
  readonly dependsOnCursor?: boolean;
  /** `value` comes without quotes. Undefined if invalid. */
  read(value: string, comparison: Comparison): Matcher | undefined;
  /** Values to suggest, each with a hint. */
  readonly words?: Readonly<Record<string, string>>;
  /** This device's distinct values, in order of first appearance; suggested after the words. */
  values?(device: DeviceModel): readonly string[];
  /** The hint for one of the device's values. */
  hintOf?(value: string): string;
}

/** Looks at each allocation. `note`: why none matches, if known. */
export const matching = (
  testOf: (device: DeviceModel, at: EventIndex) => (id: AllocationIndex) => boolean,
  note?: (device: DeviceModel) => string | undefined,
): Matcher => ({
  allocations: (device, at) => ({
    mask: maskOf(device.replay.allocations.length, testOf(device, at)),
    note: note?.(device),
  }),
});

export const COMPARE = {
  '<': (value: number, bound: number) => value < bound,
  '<=': (value: number, bound: number) => value <= bound,
  '=': (value: number, bound: number) => value === bound,
  '>=': (value: number, bound: number) => value >= bound,
  '>': (value: number, bound: number) => value > bound,
};
export type Comparison = keyof typeof COMPARE;

/** Quotes a text so that the parser reads it back: only \" and \\ are escapes, so C:\train.py may stay. */
export function quoteText(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** Qualifiers whose value may be any text. */
const QUOTED: ReadonlySet<string> = new Set(['frame', 'holder', 'phase', 'category', 'compile']);

/** 'state:live', 'phase:"my forward"', 'pool:"(1, 0)"'. `name` is a qualifier's. */
export function searchTerm(name: string, value: string): string {
  const isPlain = !QUOTED.has(name) && /^[\w@-]+$/.test(value);
  return `${name}:${isPlain ? value : quoteText(value)}`;
}

type SpelledFrame = Pick<FrameView, 'name' | 'filename' | 'line'>;

/** A frame in the search language. */
export const frameText = ({ name, filename, line }: SpelledFrame): string =>
  `${name}@${filename}:${line}`;

/** Stacks with exactly that frame: frame:"forward@/home/me/model.py:12". */
export const frameTerm = (frame: SpelledFrame): string => searchTerm('frame', frameText(frame));

/** Blocks of at least `fromBytes` and fewer than `toBytes`; Infinity means no upper limit. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const from = fromBytes > 0 ? [`size>=${fromBytes}`] : [];
  const to = Number.isFinite(toBytes) ? [`size<${toBytes}`] : [];
  return [...from, ...to].join(' ');
}

/** One byte per row (an allocation, a frame), 1 for a hit. */
export function maskOf(length: number, isHit: (row: number) => boolean): Uint8Array {
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) if (isHit(id)) mask[id] = 1;
  return mask;
}

/** The stacks with one of these frames (index: stack + 1). A caller's row comes before its callees'. */
export function stacksOfFrames({ snapshot: { stacks } }: DeviceModel, frames: Uint8Array) {
  const mask = new Uint8Array(stacks.length + 1);
  for (let row = 1; row < stacks.length; row++) {
    mask[row + 1] = mask[stacks.parent[row] + 1] | frames[stacks.frame[row]];
  }
  const note = frames.length === 0 ? 'This snapshot has no recorded stacks.' : undefined;
  return { mask, frames, note };
}

/** Allocations whose stack is in the mask (index: stack + 1). */
export function allocationsOfStacks({ replay }: DeviceModel, stacks: Uint8Array): Uint8Array {
  const { length, stack } = replay.allocations;
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) mask[id] = stacks[stack[id] + 1];
  return mask;
}

/** Caches a predicate over rows: a snapshot of millions of events refers to a few hundred strings. */
export function onceForEach(
  length: number,
  test: (row: StringIndex) => boolean,
): (row: StringIndex) => boolean {
  /** 0 = not computed, 1 = no, 2 = yes. */
  const known = new Uint8Array(length);
  return (row) => {
    if (known[row] === 0) known[row] = test(row) ? 2 : 1;
    return known[row] === 2;
  };
}

/** The allocation with that label; -1 if there is none, plus a note that explains the empty result. */
export function allocationLabeled(
  { snapshot, replay }: DeviceModel,
  label: string,
): { readonly allocation: AllocationIndex; readonly note: string | undefined } {
  const allocation = findAllocation(replay.allocations, snapshot.addresses, label);
  return allocation === undefined
    ? { allocation: -1, note: `This device has no allocation ${label}.` }
    : { allocation, note: undefined };
}

/** Why a search that needs times is empty, if no event of the device has one. */
export function noteOfTimes({ trace }: DeviceModel): string | undefined {
  const hasTimes = !Number.isNaN(timeOfEventUs(trace.events, 0));
  return hasTimes ? undefined : 'The events of this trace have no times.';
}
