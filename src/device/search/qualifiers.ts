/** All qualifiers of the search language. To add one, write it in a file of qualifiers/ and list it here. */
import { assert } from '../../base/assert.ts';
import type { DeviceModel } from '../model/device-model.ts';
import type { Qualifier } from './qualifier.ts';
import { AGE, POOL, SIZE, STATE, STREAM } from './qualifiers/figures.ts';
import { CATEGORY, CLASS, COMPILE, HOLDER, PART, PHASE } from './qualifiers/names.ts';
import { FRAME, SITE } from './qualifiers/stacks.ts';

/** In the order of the page's suggestions. */
const LIST = [
  CLASS,
  SIZE,
  AGE,
  STREAM,
  POOL,
  STATE,
  PART,
  FRAME,
  SITE,
  HOLDER,
  PHASE,
  CATEGORY,
  COMPILE,
] as const;

/** The parsed form of a term with a qualifier. Its kind is the qualifier's name. */
export type QualifierCondition = NonNullable<ReturnType<(typeof LIST)[number]['parse']>>;

type QualifierName = QualifierCondition['kind'];

export const QUALIFIERS: readonly Qualifier<QualifierCondition>[] = LIST;

export function findQualifier(name: string): Qualifier<QualifierCondition> | undefined {
  return QUALIFIERS.find((qualifier) => qualifier.name === name);
}

/** Whether a condition comes from a qualifier rather than a word. */
export function isQualified<C extends { readonly kind: string }>(
  condition: C | QualifierCondition,
): condition is QualifierCondition {
  return findQualifier(condition.kind) !== undefined;
}

export function qualifierOf({ kind }: QualifierCondition): Qualifier<QualifierCondition> {
  const qualifier = findQualifier(kind);
  assert(qualifier !== undefined, 'conditions have the kind of their qualifier');
  return qualifier;
}

/** 'bytes of the block, such as size>64MiB or size=512'. */
export function qualifierHelp({ help, examples }: Qualifier<QualifierCondition>): string {
  return `${help}, such as ${examples.join(' or ')}`;
}

/** A device's values per qualifier; missing for qualifiers without a list of values. */
export type KnownValues = { readonly [name in QualifierName]?: readonly string[] };

export function knownValues(context: DeviceModel): KnownValues {
  return Object.fromEntries(
    QUALIFIERS.map((qualifier) => [qualifier.name, qualifier.values?.(context) ?? []]),
  );
}
