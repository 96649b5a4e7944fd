/** Which variable holds the blocks of an entry, if the recording has names. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type Draft, isLasting } from './cohorts.ts';
import type { EntryKind } from './types.ts';

/** Share of an entry's named bytes that one holder must have to be shown as the holder. */
const HOLDER_SHARE = 0.5;
/** Share of what a variable holds that must be known to be kept, before the rest of it counts as kept too. */
const KNOWN_SHARE = 0.25;
/** Of all live bytes: what holds this much is named without other evidence, a container from before a ring's oldest event too. */
const LARGE_SHARE = 0.25;
/** A pair may be a batch and its targets. */
const MIN_LENGTH = 3;

/** The variable that holds the most of these blocks; undefined if none has a name. */
function largestHolder({ owners, input }: AnalysisInput, ids: readonly AllocationIndex[]) {
  if (owners === undefined) return undefined;
  const { sizeBytes } = input.replay.allocations;
  const bytesOf = (own: readonly AllocationIndex[]) => sumBy(own, (id) => sizeBytes[id]);
  const named = ids.filter((id) => owners.ownerOf[id] >= 0);
  const [largest] = [...groupBy(named, (id) => owners.ownerOf[id] >> 1)].sort(
    ([, a], [, b]) => bytesOf(b) - bytesOf(a),
  );
  if (largest === undefined) return undefined;
  const [variable, own] = largest;
  const graph = own.filter((id) => owners.owners[owners.ownerOf[id]].isGraph);
  const isGraph = bytesOf(graph) > bytesOf(own) / 2;
  const kind: EntryKind = isGraph ? 'kept-graph' : 'kept';
  const { text } = owners.owners[2 * variable + Number(isGraph)];
  return { variable, kind, text, bytes: bytesOf(own), namedBytes: bytesOf(named) };
}

/** Who holds most of these blocks; undefined if no one holds half of them or nothing has a name. */
export function holderOf(context: AnalysisInput, ids: Iterable<AllocationIndex>) {
  const holder = largestHolder(context, [...ids]);
  return holder !== undefined && holder.bytes >= HOLDER_SHARE * holder.namedBytes
    ? holder
    : undefined;
}

/** Who holds much of what is left at the end, besides what every program keeps; undefined if no one does. */
export function holderAtEnd(context: AnalysisInput) {
  const ids: AllocationIndex[] = [];
  // Only what is live at the end has an owner.
  context.owners?.ownerOf.forEach((owner, id) => {
    if (owner >= 0 && !isLasting(context, id)) ids.push(id);
  });
  const holder = largestHolder(context, ids);
  const leastBytes = LARGE_SHARE * context.input.replay.end.allocatedBytes;
  return holder !== undefined && holder.bytes >= leastBytes ? holder : undefined;
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
