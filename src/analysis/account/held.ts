/** Who holds kept memory, in recordings with names: what one variable holds is one entry, whatever lines made it. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type Draft, isLasting } from './cohorts.ts';
import type { EntryKind } from './types.ts';

/** Share of an entry's named bytes that one holder must have to be shown as the holder. */
const HOLDER_SHARE = 0.5;
/** Share of what a variable holds that must be known to be kept, before the rest of it counts as kept too. */
const KNOWN_SHARE = 0.25;
/** Of all live bytes: a container from before a ring's oldest event that holds this much is named. */
const LARGE_SHARE = 0.25;
/** A pair may be a batch and its targets. */
const MIN_LENGTH = 3;

export const isKept = (kind: EntryKind): boolean => kind === 'kept' || kind === 'kept-graph';

/** Who holds most of these blocks; undefined if no one holds half of them or nothing has a name. */
export function holderOf({ owners, input }: AnalysisInput, ids: readonly AllocationIndex[]) {
  if (owners === undefined) return undefined;
  const { sizeBytes } = input.replay.allocations;
  const bytesOf = (own: readonly AllocationIndex[]) => sumBy(own, (id) => sizeBytes[id]);
  const named = ids.filter((id) => owners.ownerOf[id] >= 0);
  const [largest] = [...groupBy(named, (id) => owners.ownerOf[id] >> 1)].sort(
    ([, a], [, b]) => bytesOf(b) - bytesOf(a),
  );
  if (largest === undefined) return undefined;
  const [variable, own] = largest;
  if (bytesOf(own) < HOLDER_SHARE * bytesOf(named)) return undefined;
  const graph = own.filter((id) => owners.owners[owners.ownerOf[id]].isGraph);
  const isGraph = bytesOf(graph) > bytesOf(own) / 2;
  const kind: EntryKind = isGraph ? 'kept-graph' : 'kept';
  return { variable, kind, text: owners.owners[2 * variable + Number(isGraph)].text };
}

/** @param live allocations live at the moment, ascending */
export function heldDrafts(
  context: AnalysisInput,
  cohorts: readonly Draft[],
  live: Int32Array,
): (Pick<Draft, 'ids'> & Partial<Draft>)[] {
  const { owners } = context;
  if (owners === undefined) return [];
  const { sizeBytes, preexisting } = context.input.replay.allocations;
  const bytesOf = (ids: readonly AllocationIndex[]) => sumBy(ids, (id) => sizeBytes[id]);
  const variableOf = (id: AllocationIndex) => owners.ownerOf[id] >> 1;
  const all = [...live];
  const byVariable = groupBy(
    all.filter((id) => owners.ownerOf[id] >= 0),
    variableOf,
  );
  const cohortsOf = groupBy(cohorts, ({ ids }) => holderOf(context, ids)?.variable);
  return [...byVariable].flatMap(([variable, held]) => {
    const isContainer = owners.owners[2 * variable].length >= MIN_LENGTH;
    const made = held.filter((id) => !isLasting(context, id));
    const own = isContainer ? held : made;
    const of = (cohortsOf.get(variable) ?? []).toSorted((a, b) => bytesOf(b.ids) - bytesOf(a.ids));
    const known = of.flatMap(({ ids }) => ids);
    const isKnown = bytesOf(known) >= KNOWN_SHARE * bytesOf(own);
    const isOld = bytesOf(made.filter((id) => id < preexisting)) > bytesOf(made) / 2;
    const isPile = isContainer && isOld && bytesOf(made) >= LARGE_SHARE * bytesOf(all);
    if (!isKnown && !isPile) return [];
    const unnamed = known.filter((id) => owners.ownerOf[id] < 0);
    const ids = [...new Set([...own, ...unnamed])].sort((a, b) => a - b);
    const everKept = of.flatMap((cohort) => cohort.all ?? []);
    return {
      ...of[0],
      ids,
      all: [...new Set([...ids, ...everKept])],
      isGrowing: of.some(({ isGrowing }) => isGrowing),
    };
  });
}
