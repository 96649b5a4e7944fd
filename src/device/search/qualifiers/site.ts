import { NO_STACK } from '../../../format/snapshot/tables.ts';
import { allocationLabelled } from '../masks.ts';
import type { StackQualifier } from '../qualifier.ts';

/** The call site of one allocation, see `StackReader.siteOf`. Those without any stack are one site. */
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
    const { snapshot, replay, stacks: reader } = context;
    const stacks = new Uint8Array(snapshot.stacks.length - NO_STACK);
    const { allocation, note } = allocationLabelled(context, label);
    if (allocation >= 0) {
      const site = reader.siteOf(replay.allocations.stack[allocation]);
      for (let row = 0; row < stacks.length; row++) {
        if (reader.siteOf(row + NO_STACK) === site) stacks[row] = 1;
      }
    }
    return { stacks, note };
  },
};

/** Allocations with the call site of that one: site:b7f064c000000_0. */
export function siteTerm(label: string): string {
  return `site:${label}`;
}
