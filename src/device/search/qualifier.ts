/** What a qualifier of the search language is, such as the `size` of `size>64MiB`, and how terms are written. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { FrameView } from '../model/types.ts';
import { maskOf } from './masks.ts';

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
