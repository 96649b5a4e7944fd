import { NO_STACK } from '../../snapshot/tables.ts';
import { allocationLabelled } from '../masks.ts';
import type { StackQualifier } from '../qualifier.ts';

/** The call site of one allocation: its stack. Those without any stack are one site. */
export interface SiteCondition {
  readonly kind: 'site';
  /** Of that allocation. */
  readonly label: string;
}

const ALLOCATION_LABEL = /^b[0-9a-f]{1,16}_\d{1,9}$/i;

export const SITE: StackQualifier<SiteCondition> = {
  name: 'site',
  help: 'the name of an allocation',
  examples: ['site:b7f064c000000_0'],
  parse: (value) =>
    ALLOCATION_LABEL.test(value) ? { kind: 'site', label: value.toLowerCase() } : undefined,
  matchStacks(context, { label }) {
    const { snapshot, replay } = context;
    const stacks = new Uint8Array(snapshot.stacks.length - NO_STACK);
    const { allocation, note } = allocationLabelled(context, label);
    if (allocation >= 0) stacks[replay.allocations.stack[allocation] - NO_STACK] = 1;
    return { stacks, note };
  },
};

/** Allocations with the stack of that one: site:b7f064c000000_0. */
export function siteTerm(label: string): string {
  return `site:${label}`;
}
