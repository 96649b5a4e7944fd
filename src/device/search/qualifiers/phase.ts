import { lowerBound } from '../../../base/binary-search.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { noteOfTimes } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

/** Allocated inside an annotation of exactly that name. */
export interface PhaseCondition {
  readonly kind: 'phase';
  readonly name: string;
}

export const PHASE: AllocationQualifier<PhaseCondition> = {
  name: 'phase',
  help: 'the name of an annotation',
  examples: ['phase:"forward"'],
  parse: (name) => ({ kind: 'phase', name }),
  match: (context, { name }) => ({
    mask: annotationMask(context, name),
    note: noteOfAnnotation(context, name),
  }),
  values: (context) => [...new Set(context.annotations().map(({ name }) => name))],
  suggest: (names) => names.map((name) => ({ term: phaseTerm(name), hint: '' })),
};

/** Allocations whose alloc event lies inside an annotation of that name. */
function annotationMask(context: DeviceModel, name: string): Uint8Array {
  const { length, start, preexisting } = context.replay.allocations;
  const mask = new Uint8Array(length);
  // Annotations come by start: what an earlier one filled need not be filled again.
  let filled = preexisting;
  for (const span of context.annotations()) {
    if (span.name !== name) continue;
    const from = lowerBound(start, span.startEvent, filled);
    const to = lowerBound(start, span.endEvent, filled);
    mask.fill(1, from, to);
    filled = Math.max(filled, to);
  }
  return mask;
}

function noteOfAnnotation(context: DeviceModel, name: string): string | undefined {
  if (context.snapshot.annotations.length === 0) return 'This snapshot has no annotations.';
  const withoutTimes = noteOfTimes(context);
  if (withoutTimes !== undefined) return withoutTimes;
  const isKnown = context.annotations().some((span) => span.name === name);
  return isKnown ? undefined : `This device has no annotation "${name}".`;
}

/** Allocations made inside annotations of that name. */
export function phaseTerm(name: string): string {
  return `phase:${quoteText(name)}`;
}
