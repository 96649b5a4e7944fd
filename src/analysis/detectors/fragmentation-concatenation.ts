/**
 * Tensors that grow by being copied into a slightly larger one, over and over: `x = torch.cat([x, new])`.
 * At one site each allocation is a little larger than the one before it, which is freed right after.
 */
import { formatBytes, plural } from '../../base/format.ts';
import { type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { evidence, fingerprint, locationOf, locationText } from '../findings/finding-parts.ts';
import type { AnyFinding } from '../findings/types.ts';

export interface Concatenation {
  readonly stack: StackIndex;
  readonly copies: number;
  readonly smallestBytes: number;
  readonly largestBytes: number;
  /** Bytes allocated for all the copies together. */
  readonly copiedBytes: number;
  readonly firstEvent: number;
  readonly lastEvent: number;
}

const MIN_COPIES = 12;
/** The old one goes within so many events after the new one came. */
const NEAR_EVENTS = 6;
const MIN_GROWTH = 2;
/** Of the frees at the site that could be. */
const MIN_SHARE = 0.6;

export function findConcatenations(context: AnalysisInput): Concatenation[] {
  const { sites, siteCount } = context;
  const { trace, replay } = context.input;
  const { allocations: table, allocationOfEvent } = replay;
  const latest = new Int32Array(siteCount).fill(-1);
  /** Frees at a site while its latest tensor was of about the same size: those that could be copies. */
  const comparable = new Int32Array(siteCount);
  const found = new Map<number, { -readonly [K in keyof Concatenation]: Concatenation[K] }>();
  const { action } = trace.events;
  for (let t = 0; t < action.length; t++) {
    const id = allocationOfEvent[t];
    if (id < 0 || table.stack[id] <= 0) continue;
    const site = sites[id];
    if (action[t] === TraceAction.Alloc) latest[site] = id;
    else if (action[t] === TraceAction.FreeRequested) {
      const next = latest[site];
      const before = table.requestedBytes[id];
      const after = table.requestedBytes[next];
      if (after > 2 * before || before > 2 * after) continue;
      comparable[site]++;
      const grew = next > id && t - table.start[next] <= NEAR_EVENTS && after > before;
      if (!grew) continue;
      const known = found.get(site);
      if (known === undefined) {
        found.set(site, {
          stack: table.stack[id],
          copies: 1,
          smallestBytes: before,
          largestBytes: after,
          copiedBytes: after,
          firstEvent: table.start[id],
          lastEvent: t,
        });
      } else {
        known.copies++;
        known.smallestBytes = Math.min(known.smallestBytes, before);
        known.largestBytes = Math.max(known.largestBytes, after);
        known.copiedBytes += after;
        known.lastEvent = t;
      }
    }
  }
  return [...found]
    .filter(([site, { copies }]) => copies >= MIN_COPIES && copies >= MIN_SHARE * comparable[site])
    .map(([, concatenation]) => concatenation)
    .filter((c) => c.largestBytes >= MIN_GROWTH * c.smallestBytes)
    .sort((a, b) => b.copiedBytes - a.copiedBytes);
}

export const CONCATENATION_ADVICE = [
  'Allocate the full size once and fill it by slices, or keep the pieces in a list and concatenate once at the end.',
  'For evaluation with transformers: set eval_accumulation_steps so that logits move to the CPU, or preprocess_logits_for_metrics so that they are small.',
];

/** 'a.py:3 (f) grows a tensor by copying it into a slightly larger one, 47 times, from 16 MiB to 768 MiB: …' */
export function copiesText({ input }: AnalysisInput, concatenation: Concatenation): string {
  const { stack, copies, smallestBytes, largestBytes } = concatenation;
  const line = locationText(input.stacks.topUserFrameView(stack));
  return `${line} grows a tensor by copying it into a slightly larger one, ${plural(copies, 'time')}, from ${formatBytes(smallestBytes)} to ${formatBytes(largestBytes)}: each size leaves a hole that the next does not fit.`;
}

export function concatenationFinding(
  context: AnalysisInput,
  concatenation: Concatenation,
): AnyFinding<'fragmentation', 'growing-concatenation'> {
  const { stack, copies, largestBytes, copiedBytes } = concatenation;
  const where = locationOf(context, stack, 'allocated at');
  return {
    detector: 'fragmentation',
    kind: 'growing-concatenation',
    severity: 'low',
    bytes: largestBytes,
    claim: `${copiesText(context, concatenation)} ${formatBytes(copiedBytes)} was allocated for the copies in all, and the old and the new one are alive at once.`,
    ...where,
    events: { first: concatenation.firstEvent, last: concatenation.lastEvent },
    parts: [{ stack, frame: where.frame, bytes: largestBytes, count: copies, note: 'copies' }],
    facts: [
      { label: 'copies', count: copies },
      { label: 'allocated for copies', bytes: copiedBytes },
    ],
    evidence: evidence(context, [], [concatenation]),
    advice: CONCATENATION_ADVICE,
    disproof:
      'The sizes grow because the inputs do, and the old tensor is not copied: then it is a curriculum, not a concatenation.',
    fingerprint: fingerprint(context, 'fragmentation', 'growing-concatenation', stack),
  };
}
