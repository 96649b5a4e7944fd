/**
 * What a qualifier of the search language is: the `size` of `size>64MiB`. All there is to each stands in
 * qualifiers/, and it has a line in the list of qualifiers.ts.
 */

import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';

export type Comparison = '<' | '<=' | '=' | '>=' | '>';

/** The allocations for which a term holds, before its sign is applied. */
export interface TermAnswer {
  /** By AllocationIndex. */
  readonly mask: Uint8Array;
  /** By FrameIndex: the frames that the term names; undefined when it names none. */
  readonly frames?: Uint8Array | undefined;
  /** Why the mask is empty, should it be. */
  readonly note?: string | undefined;
}

/** The stacks for which a term holds. */
export interface StackAnswer {
  /** Row stack + 1. */
  readonly stacks: Uint8Array;
  readonly frames?: Uint8Array | undefined;
  readonly note?: string | undefined;
}

/** A value that may be typed next. */
export interface TermSuggestion {
  /** The whole term: 'state:live'. */
  readonly term: string;
  readonly hint: string;
}

/** `Condition`: what the value says, as plain data. */
interface QualifierBase<Condition extends { readonly kind: string }> {
  /** What stands before the sign. The page offers it while it is typed. */
  readonly name: Condition['kind'];
  /** What the value may be: shown as help, and when a value cannot be read. */
  readonly help: string;
  /** Whole terms that show it, for the same places. */
  readonly examples: readonly string[];
  /** True where < and > make sense; else = and : mean the same and are all there is. */
  readonly isComparable?: boolean;
  /** True when its matches change with the cursor. */
  readonly dependsOnCursor?: boolean;
  /** `value` comes without its quotes. Undefined when it cannot be read. */
  parse(value: string, comparison: Comparison): Condition | undefined;
  /** What this device has for it, each value once, in order of first appearance. */
  values?(context: DeviceModel): readonly string[];
  /** Terms to offer. `values` are those of the device, empty until they are known. */
  suggest?(values: readonly string[]): readonly TermSuggestion[];
}

/** A qualifier that asks for something an allocation has. */
export interface AllocationQualifier<Condition extends { readonly kind: string }>
  extends QualifierBase<Condition> {
  /** `at`: the event after which states and ages are taken. */
  match(context: DeviceModel, condition: Condition, at: EventIndex): TermAnswer;
}

/** A qualifier that asks for a stack: it finds events that belong to no allocation too. */
export interface StackQualifier<Condition extends { readonly kind: string }>
  extends QualifierBase<Condition> {
  matchStacks(context: DeviceModel, condition: Condition): StackAnswer;
}

export type Qualifier<Condition extends { readonly kind: string }> =
  | AllocationQualifier<Condition>
  | StackQualifier<Condition>;

/** A text in quotes, as the language reads it back: only \" and \\ are escapes, so C:\train.py may stay. */
export function quoteText(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** 'phase:"my forward"': a term whose value may be any text. */
export const quotedTerm = (qualifier: string, value: string): string =>
  `${qualifier}:${quoteText(value)}`;

export function compare(value: number, comparison: Comparison, bound: number): boolean {
  switch (comparison) {
    case '<':
      return value < bound;
    case '<=':
      return value <= bound;
    case '=':
      return value === bound;
    case '>=':
      return value >= bound;
    case '>':
      return value > bound;
  }
}

/** Blocks of at least `from` and of fewer than `to` bytes; Infinity: no upper end. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const from = fromBytes > 0 ? [`size>=${fromBytes}`] : [];
  const to = Number.isFinite(toBytes) ? [`size<${toBytes}`] : [];
  return [...from, ...to].join(' ');
}
