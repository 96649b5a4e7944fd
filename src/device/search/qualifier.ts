/**
 * What a qualifier of the search language is, such as the `size` of `size>64MiB`. Each is defined in qualifiers/ and
 * listed in qualifiers.ts.
 */

import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';

export type Comparison = '<' | '<=' | '=' | '>=' | '>';

/** The allocations that match a term, before its sign is applied. */
export interface TermAnswer {
  /** By AllocationIndex. */
  readonly mask: Uint8Array;
  /** By FrameIndex: the frames that the term names; undefined if it names none. */
  readonly frames?: Uint8Array | undefined;
  /** Why the mask is empty, if it is. */
  readonly note?: string | undefined;
}

/** The stacks that match a term. */
export interface StackAnswer {
  /** Index: stack + 1. */
  readonly stacks: Uint8Array;
  readonly frames?: Uint8Array | undefined;
  readonly note?: string | undefined;
}

/** A value to suggest next. */
export interface TermSuggestion {
  /** The whole term: 'state:live'. */
  readonly term: string;
  readonly hint: string;
}

/** `Condition`: the parsed value, as plain data. */
interface QualifierBase<Condition extends { readonly kind: string }> {
  /** The text before the sign; the page suggests it while you type. */
  readonly name: Condition['kind'];
  /** Describes the allowed values, in help and in error messages. */
  readonly help: string;
  /** Whole terms as examples, shown in the same places. */
  readonly examples: readonly string[];
  /** Whether < and > make sense; otherwise only = and :, which mean the same, are allowed. */
  readonly isComparable?: boolean;
  /** Whether its matches change with the cursor. */
  readonly dependsOnCursor?: boolean;
  /** `value` comes without quotes. Undefined if invalid. */
  parse(value: string, comparison: Comparison): Condition | undefined;
  /** This device's distinct values, in order of first appearance. */
  values?(context: DeviceModel): readonly string[];
  /** Terms to suggest. `values` are the device's, empty until known. */
  suggest?(values: readonly string[]): readonly TermSuggestion[];
}

/** A qualifier about a property of an allocation. */
export interface AllocationQualifier<Condition extends { readonly kind: string }>
  extends QualifierBase<Condition> {
  /** `at`: the event after which states and ages are taken. */
  match(context: DeviceModel, condition: Condition, at: EventIndex): TermAnswer;
}

/** A qualifier about a stack, so it also finds events without an allocation. */
export interface StackQualifier<Condition extends { readonly kind: string }>
  extends QualifierBase<Condition> {
  matchStacks(context: DeviceModel, condition: Condition): StackAnswer;
}

export type Qualifier<Condition extends { readonly kind: string }> =
  | AllocationQualifier<Condition>
  | StackQualifier<Condition>;

/** Quotes a text so that the parser reads it back: only \" and \\ are escapes, so C:\train.py may stay. */
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

/** Blocks of at least `fromBytes` and fewer than `toBytes`; Infinity means no upper limit. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const from = fromBytes > 0 ? [`size>=${fromBytes}`] : [];
  const to = Number.isFinite(toBytes) ? [`size<${toBytes}`] : [];
  return [...from, ...to].join(' ');
}
