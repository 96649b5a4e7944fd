import type { EventIndex } from '../../../format/snapshot/tables.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { maskOf } from '../masks.ts';
import type { AllocationQualifier } from '../qualifier.ts';

/** At the cursor, else at the end. An allocation that is yet to come is in none of them. */
type StateWord = 'live' | 'pending' | 'freed';

export interface StateCondition {
  readonly kind: 'state';
  readonly state: StateWord;
}

const STATES: readonly (readonly [StateWord, string])[] = [
  ['live', 'live at the cursor; without a cursor, at the end'],
  ['pending', 'freed, but another stream may still use it'],
  ['freed', 'freed before that'],
];

export const STATE: AllocationQualifier<StateCondition> = {
  name: 'state',
  help: 'live, pending or freed',
  examples: ['state:live'],
  dependsOnCursor: true,
  parse(value) {
    const known = STATES.find(([word]) => word === value.toLowerCase());
    return known && { kind: 'state', state: known[0] };
  },
  match: (context, { state }, at) => ({ mask: stateMask(context, state, at) }),
  suggest: () => STATES.map(([word, hint]) => ({ term: stateTerm(word), hint })),
};

/** In the state after `at`. */
function stateMask({ replay }: DeviceModel, state: StateWord, at: EventIndex): Uint8Array {
  const { length, start, freeRequested, end } = replay.allocations;
  switch (state) {
    case 'live':
      return maskOf(length, (id) => start[id] <= at && at < freeRequested[id] && at < end[id]);
    case 'pending':
      return maskOf(length, (id) => freeRequested[id] <= at && at < end[id]);
    case 'freed':
      return maskOf(length, (id) => end[id] <= at);
  }
}

export function stateTerm(state: StateWord): string {
  return `state:${state}`;
}
