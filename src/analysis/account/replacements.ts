/**
 * Tensors that are replaced by larger ones again and again: `preds = torch.cat([preds, out])`, a padded gather in an
 * evaluation, a cache without a limit. The old one is freed soon after the new one is allocated:
 *
 *     pass 1  ██            pass 2  ████          pass 3  ██████        pass 4  ████████
 *
 * Growing sizes within one pass (a pyramid of feature maps) don't count: the links must be in different repetitions.
 * Batches of ever longer sentences don't count either: there all lines grow, which the classes know, and none began with
 * a single piece.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { addTo, addUp, memoized } from '../../base/collections.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';

/** Smaller tensors don't fill a GPU. */
const MIN_BYTES = 2 ** 20;
/** Share of all live bytes: look for chains only where it matters. */
const MIN_SHARE = 0.02;
const MIN_LINKS = 4;
const MAX_LINKS = 60;
/** The old one is freed within this share of the run so far plus this many events. */
const SOON_SHARE = 0.02;
const SOON_EVENTS = 400;

/** A tensor that is live at the moment, and how it reached its size. */
export interface Replaced {
  readonly id: AllocationIndex;
  /** The tensors before it, the latest first. */
  readonly links: readonly AllocationIndex[];
  /** Everything that the same place made, in order. */
  readonly made: readonly AllocationIndex[];
}

/** @param live allocations live at the moment, ascending */
export function replacedAt(
  context: AnalysisInput,
  live: Int32Array,
  event: EventIndex,
): Replaced[] {
  const { stack, sizeBytes } = context.input.replay.allocations;
  const { classOf } = context.classification;
  const placeOf = placesOf(context);
  const sums = new Map<number, number>();
  let total = 0;
  for (const id of live) {
    total += sizeBytes[id];
    const place = placeOf(stack[id]);
    if (sizeBytes[id] >= MIN_BYTES) addUp(sums, place, sizeBytes[id]);
  }
  sums.delete(NOWHERE);
  const isWorth = (place: number) => (sums.get(place) ?? 0) >= MIN_SHARE * total;
  const births = birthsOf(context, (site) => isWorth(placeOf(site)) && placeOf(site), event);
  return Array.from(live)
    .filter((id) => isWorth(placeOf(stack[id])) && !context.classifier.isBackward(stack[id]))
    .map((id): Replaced => {
      const made = births.get(placeOf(stack[id])) ?? [];
      return { id, links: linksOf(context, id, made, event), made };
    })
    .filter(({ id, links }) => links.length >= MIN_LINKS && areApart(context, [id, ...links]))
    .filter(
      ({ id, links }) => classOf[id] === MemoryClass.GrowingState || isJoined(context, id, links),
    );
}

/** Of the time since the place made its first: a chain that began later is a new one, after others were given back. */
const BEGAN_SHARE = 0.25;

/** Whether the tensor has grown ever since its place made the first one, or for as long as chains are followed. */
export function isOfWholeRun({ input }: AnalysisInput, { id, links, made }: Replaced): boolean {
  const { start } = input.replay.allocations;
  const first = start[made[0] ?? id];
  const began = start[links[links.length - 1] ?? id];
  return links.length >= MAX_LINKS || began - first <= BEGAN_SHARE * (start[id] - first);
}

/**
 * Whether it began with a single piece, and is all pieces by now. The line that joins them may make each piece too, so
 * the classes see sizes that only vary.
 */
function isJoined(
  { input, classifier }: AnalysisInput,
  id: AllocationIndex,
  links: readonly AllocationIndex[],
): boolean {
  const { stack, requestedBytes } = input.replay.allocations;
  const first = requestedBytes[links[links.length - 1]];
  const piece = (requestedBytes[id] - first) / links.length;
  return !classifier.isForward(stack[id]) && first <= 2 * piece;
}

const NOWHERE = -1;

/**
 * The innermost line with the nearest user line, whatever path led there: a cache grows once for the prompt and then
 * for every token.
 */
function placesOf({ input }: AnalysisInput): (site: StackIndex) => number {
  const { frame } = input.snapshot.stacks;
  return memoized((site: StackIndex) => {
    if (site <= EMPTY_STACK) return NOWHERE;
    const user = input.stacks.topUserFrame(site) ?? 0;
    return frame[site] * input.snapshot.frames.length + user;
  });
}

function birthsOf(
  { input }: AnalysisInput,
  placeOf: (site: StackIndex) => number | false,
  event: EventIndex,
): Map<number, AllocationIndex[]> {
  const { stack, sizeBytes, start, length } = input.replay.allocations;
  const births = new Map<number, AllocationIndex[]>();
  for (let id = 0; id < length && start[id] <= event; id++) {
    if (sizeBytes[id] < MIN_BYTES) continue;
    const place = placeOf(stack[id]);
    if (place !== false) addTo(births, place, id);
  }
  return births;
}

/** From a tensor back to the smaller one it replaced, and so on. @param births at the same place */
function linksOf(
  { input }: AnalysisInput,
  last: AllocationIndex,
  births: readonly AllocationIndex[],
  event: EventIndex,
): AllocationIndex[] {
  const { start, end, requestedBytes, preexisting } = input.replay.allocations;
  const soon = (event - (start[preexisting] ?? 0)) * SOON_SHARE + SOON_EVENTS;
  const links: AllocationIndex[] = [];
  let current = last;
  let at = births.indexOf(last);
  while (links.length < MAX_LINKS) {
    let before = -1;
    // Births are in time order, so the nearest smaller tensor that this one replaced is the link.
    for (let i = at - 1; i >= 0 && at - i <= 2 * MAX_LINKS; i--) {
      const id = births[i];
      const isReplaced = end[id] >= start[current] && end[id] < start[current] + soon;
      // Requested sizes grow with every token; block sizes grow in larger steps.
      if (!isReplaced || requestedBytes[id] >= requestedBytes[current]) continue;
      if (before < 0 || requestedBytes[id] > requestedBytes[births[before]]) before = i;
    }
    if (before < 0) break;
    [at, current] = [before, births[before]];
    links.push(current);
  }
  return links;
}

/** Most links must be in different repetitions. */
const APART_SHARE = 0.7;

function areApart({ input, stepSequences }: AnalysisInput, ids: readonly AllocationIndex[]) {
  const { start } = input.replay.allocations;
  return stepSequences.some(({ bounds }) => {
    const steps = new Set(ids.map((id) => lowerBound(bounds, start[id])));
    return steps.size >= Math.max(MIN_LINKS, APART_SHARE * ids.length);
  });
}
