/**
 * Exceptions that are kept: the traceback of a caught OOM holds the frames that it left, and with them
 * their tensors.
 *
 *   errors.append(error)      # trial.py:413, in `except torch.cuda.OutOfMemoryError as error`
 *
 * A function that an OOM has left cannot be using its tensors. If those that it made before the OOM are
 * still alive at the next OOM of the same function, time after time, something keeps them.
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { addTo } from '../../base/grouping.ts';
import { memoized } from '../../base/memoized.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  evidence,
  fingerprint,
  locationOf,
  locationText,
  sitePart,
  sumBySite,
} from '../findings/finding-parts.ts';
import type { AnyFinding } from '../findings/types.ts';

/** Fewer may be chance. */
const MIN_FAILURES = 3;
/** Of the OOMs of one function. */
const MIN_SHARE = 0.8;
const MIN_PEAK_SHARE = 0.05;
const SEVERE_PEAK_SHARE = 0.2;

/** @param failures OOM events that the program caught, in order */
export function keptExceptions(
  context: AnalysisInput,
  failures: readonly EventIndex[],
): AnyFinding<'oom', 'kept-exceptions'> | undefined {
  const byFunction = new Map<number, EventIndex[]>();
  for (const event of failures) {
    const key = userCall(context, context.input.trace.events.stack[event]);
    if (key !== undefined) addTo(byFunction, key, event);
  }
  const [largest] = [...byFunction]
    .filter(([, events]) => events.length >= MIN_FAILURES)
    .flatMap(([call, events]) => findKept(context, call, events) ?? [])
    .sort((a, b) => b.bytes - a.bytes);
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  if (largest === undefined || largest.bytes < MIN_PEAK_SHARE * peak) return undefined;
  return toFinding(context, largest, largest.bytes >= SEVERE_PEAK_SHARE * peak ? 'high' : 'medium');
}

interface Kept {
  readonly ids: readonly AllocationIndex[];
  readonly bytes: number;
  /** OOMs that left something behind. */
  readonly failures: readonly EventIndex[];
}

/** The row of the stack that called the user's function in which the stack ends. */
function userCall({ input }: AnalysisInput, stack: StackIndex): StackIndex | undefined {
  const { frame, parent } = input.snapshot.stacks;
  for (let row = stack; row > EMPTY_STACK; row = parent[row]) {
    if (input.stacks.frame(frame[row]).kind === 'user') return parent[row];
  }
  return undefined;
}

function findKept(
  context: AnalysisInput,
  call: StackIndex,
  events: readonly EventIndex[],
): Kept | undefined {
  const { start, freeRequested, sizeBytes, stack, length, preexisting } =
    context.input.replay.allocations;
  const isInCall = memoized(
    (site: StackIndex) => site > EMPTY_STACK && userCall(context, site) === call,
  );
  const ids: AllocationIndex[] = [];
  const leaving: EventIndex[] = [];
  let id = preexisting;
  events.forEach((event, i) => {
    const next = events[i + 1] ?? context.input.trace.events.length;
    const before = ids.length;
    for (; id < length && start[id] < event; id++) {
      if (isInCall(stack[id]) && freeRequested[id] > next) ids.push(id);
    }
    if (ids.length > before) leaving.push(event);
  });
  if (leaving.length < MIN_SHARE * events.length) return undefined;
  return { ids, bytes: ids.reduce((sum, own) => sum + sizeBytes[own], 0), failures: leaving };
}

function toFinding(
  context: AnalysisInput,
  { ids, bytes, failures }: Kept,
  severity: 'high' | 'medium',
): AnyFinding<'oom', 'kept-exceptions'> {
  const sites = sumBySite(context, ids);
  const where = locationOf(context, sites[0].stack, 'allocated at');
  const each = formatBytes(Math.round(bytes / failures.length));
  const headline = `${plural(failures.length, 'caught OOM')} left ${each} each from ${locationText(where.frame)} behind, ${formatBytes(bytes)} in all: most likely the exceptions are stored.`;
  return {
    detector: 'oom',
    kind: 'kept-exceptions',
    severity,
    bytes,
    claim: `${headline} The error had already left the function, so the function does not use them any more; the traceback of an exception keeps the tensors of the call that failed.`,
    ...where,
    events: {
      first: context.input.replay.allocations.start[ids[0]],
      last: failures[failures.length - 1],
    },
    parts: sites.map((site) => sitePart(context, site, 'kept after the call had failed')),
    facts: [{ label: 'OOMs that left tensors behind', count: failures.length }],
    evidence: evidence(context, ids, sites),
    advice: [
      'Store str(error) or traceback.format_exc() instead of the exception itself, or call traceback.clear_frames(error.__traceback__) before it is stored.',
      'Retry after the except clause, not within it: inside it the failed call is still alive.',
    ],
    disproof: 'The function stores these tensors itself before it fails.',
    fingerprint: fingerprint(context, 'oom', 'kept-exceptions', sites[0].stack),
  };
}
