import type { AllocationIndex, Replay } from '../../../allocator/replay/types.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import type { AllocationQualifier } from '../qualifier.ts';

/** A part of the account, by the name that it was given. */
export interface PartCondition {
  readonly kind: 'part';
  readonly name: string;
}

/** What a part of the account is called, and the blocks that it is. */
export interface NamedPart {
  readonly name: string;
  readonly allocations: readonly AllocationIndex[];
}

/** By replay: a part is known once the analysis has named it, and for as long as its snapshot is open. */
const PARTS = new WeakMap<Replay, ReadonlyMap<string, NamedPart['allocations']>>();

/** To be called before a search asks for one of them; searches that were answered before are wrong then. */
export function nameParts({ replay }: DeviceModel, parts: readonly NamedPart[]): void {
  PARTS.set(replay, new Map(parts.map(({ name, allocations }) => [name, allocations])));
}

export const PART: AllocationQualifier<PartCondition> = {
  name: 'part',
  help: 'a row of "Where the memory is"',
  examples: ['part:kept'],
  parse: (value) => (value === '' ? undefined : { kind: 'part', name: value.toLowerCase() }),
  match({ replay }, { name }) {
    const known = PARTS.get(replay);
    const mask = new Uint8Array(replay.allocations.length);
    for (const id of known?.get(name) ?? []) mask[id] = 1;
    const note =
      known === undefined
        ? 'The parts are known once the analysis is done.'
        : `There is no part "${name}" in "Where the memory is".`;
    return { mask, note };
  },
};

/** The blocks of one part of the account: part:kept-2. */
export const partTerm = (name: string): string => `part:${name}`;
