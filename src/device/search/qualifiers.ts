/** All qualifiers of the search language, in the order of the page's suggestions. */
import type { DeviceModel } from '../model/device-model.ts';
import { type Qualifier, searchTerm } from './qualifier.ts';
import { FIGURES } from './qualifiers/figures.ts';
import { NAMES, STACKS } from './qualifiers/names.ts';

const ALL = { ...FIGURES, ...NAMES, ...STACKS };

export type QualifierName = keyof typeof ALL;

export const QUALIFIERS: Readonly<Record<QualifierName, Qualifier>> = ALL;
export const QUALIFIER_NAMES = Object.keys(ALL) as readonly QualifierName[];

/** Undefined for a term without a qualifier. */
export const qualifierNamed = (name: string): Qualifier | undefined =>
  Object.hasOwn(ALL, name) ? QUALIFIERS[name as QualifierName] : undefined;

/** 'block size in bytes, such as size>64MiB or size=512'. */
export function qualifierHelp({ help, examples }: Qualifier): string {
  return `${help}, such as ${examples.join(' or ')}`;
}

/** A device's values per qualifier; missing for qualifiers without a list of values. */
export type KnownValues = { readonly [name in QualifierName]?: readonly string[] };

export function knownValues(device: DeviceModel): KnownValues {
  return Object.fromEntries(
    QUALIFIER_NAMES.map((name) => [name, QUALIFIERS[name].values?.(device) ?? []]),
  );
}

/** Whole terms to suggest: 'state:live'. */
export function suggestedTerms(name: QualifierName, known: KnownValues) {
  const { words = {}, hintOf }: Qualifier = QUALIFIERS[name];
  const values = (known[name] ?? []).map((value) => [value, hintOf?.(value) ?? ''] as const);
  const all = [...Object.entries(words), ...values];
  return all.map(([value, hint]) => ({ term: searchTerm(name, value), hint }));
}
