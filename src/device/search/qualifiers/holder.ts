import { NEVER } from '../../../allocator/replay/types.ts';
import { holderRows, holderTotals } from '../../model/holders.ts';
import { onceForEach } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

/** What a variable of the program held when the snapshot was taken. */
export interface HolderCondition {
  readonly kind: 'holder';
  /** A part of the name, in any case; '' finds what is live at the end and has no name. */
  readonly name: string;
}

/** Values that are offered: more are not read. */
const MOST_OWNERS = 200;

export const HOLDER: AllocationQualifier<HolderCondition> = {
  name: 'holder',
  help: 'the variable that held it when the snapshot was taken',
  examples: ['holder:losses'],
  parse: (name) => ({ kind: 'holder', name }),
  match({ snapshot, replay }, { name }) {
    const { length, end } = replay.allocations;
    const mask = new Uint8Array(length);
    const rows = holderRows({ snapshot, replay });
    const { holders, strings } = snapshot;
    if (rows === undefined || holders === undefined) return { mask, note: NO_NAMES };
    if (name === '') {
      for (let id = 0; id < length; id++) if (rows[id] < 0 && end[id] === NEVER) mask[id] = 1;
      return { mask };
    }
    const word = name.toLowerCase();
    const isHit = onceForEach(strings.length, (row) =>
      strings.get(row).toLowerCase().includes(word),
    );
    for (let id = 0; id < length; id++) {
      if (rows[id] >= 0 && isHit(holders.name[rows[id]])) mask[id] = 1;
    }
    return { mask, note: 'No variable with that name held memory when the snapshot was taken.' };
  },
  values: (context) => [
    ...new Set(
      holderTotals(context)
        .slice(0, MOST_OWNERS)
        .map(({ owner }) => owner.name),
    ),
  ],
  suggest: (names) => names.map((name) => ({ term: holderTerm(name), hint: '' })),
};

const NO_NAMES =
  'This file has no names of variables: record it with vramscope.record, or write them with vramscope.holders.';

/** '' finds what no variable leads to. */
export function holderTerm(name: string): string {
  return `holder:${quoteText(name)}`;
}
