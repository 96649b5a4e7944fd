/** The finding of one cohort that grows: its bytes are those of the account. */

import { sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { accountAtEnd } from '../account/account.ts';
import { unitOf } from '../account/repetitions.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { findingOf, series } from '../findings/finding-parts.ts';
import type { AnyFinding } from '../findings/types.ts';
import { commonUserFrame } from '../findings/user-lines.ts';
import { isLeftByErrors } from '../verdict/patterns.ts';
import { adviceFor } from '../verdict/remedies.ts';
import type { Pattern } from '../verdict/types.ts';
import type { GrowthGroup, GrowthKind } from './growth-groups.ts';
import { beginOf, bytesByStep, type GrowthLaw, type Leak, mean } from './growth-leaks.ts';
import type { GrowingSite } from './growth-sites.ts';

/** @param same leaks of one cohort, the largest first */
export function growthFinding(
  context: AnalysisInput,
  same: readonly Leak[],
): AnyFinding<'growth', GrowthKind> {
  const [{ group, sequence, law, lead }] = same;
  const { sizeBytes, requestedBytes, start } = context.input.replay.allocations;
  const sites = same.flatMap((leak) => leak.group.sites);
  const kept = sites.flatMap((site) => site.kept);
  const own = new Set(kept);
  const ownBytes = sumBy(kept, (id) => sizeBytes[id]);
  // The account knows more from the same statements: one leak has one figure.
  const entry = context
    .once(accountAtEnd)
    .entries.find(
      ({ allocations, bytes }) => bytes > ownBytes && allocations.some((id) => own.has(id)),
    );
  const { bytes = ownBytes, allocations: ids = kept, rate } = entry ?? {};
  const perStep = {
    bytes: sumBy(same, (leak) => leak.perStep.bytes),
    count: sumBy(same, (leak) => leak.perStep.count),
    steps: same[0].perStep.steps,
  };
  const pattern = patternOf(context, group, law);
  const unit = law.kind === 'by-key' ? 'step' : unitOf(context, sequence);
  const each = `${formatBytes(rate?.bytes ?? Math.round(perStep.bytes))} each ${rate?.unit ?? unit}`;
  const mean = law.kind === 'flat' && !isUneven(law) ? '' : 'on average ';
  const isSure = same.some((leak) => leak.isSure);
  return findingOf(context, {
    detector: 'growth',
    kind: group.kind,
    severity: isSure ? (same.some((leak) => leak.isCostly) ? 'high' : 'medium') : 'low',
    bytes,
    stack: lead.stack,
    frameIs: lead.frameIs,
    lead: lead.frame,
    claim: (where) =>
      `${group.kind === 'kept-gradients' ? 'The backward pass, which has no Python stack,' : where} keeps ${formatBytes(bytes)} in ${plural(ids.length, 'tensor')}, ${mean}${each}, and none of it was given back by the end. It grows ${lawText(law)}.`,
    searchFrame: commonUserFrame(
      context,
      sites.map(({ stack }) => stack),
    ),
    perStep,
    law: law.kind,
    pattern,
    events: {
      first: lowest(kept.map((id) => start[id])),
      last: sequence.bounds[sequence.bounds.length - 1],
    },
    sites: sites.map(({ stack, kept: own, keptBytes }) => ({
      stack,
      nativeSite: stack > EMPTY_STACK ? undefined : context.nativeSiteOf(own[0]),
      bytes: sumBy(keptBytes, (value) => value),
      count: own.length,
    })),
    shown: sites.length,
    note: ({ stack }) =>
      context.classifier.isBackward(stack)
        ? 'allocated in backward: no line of Python'
        : context.classifier.isForward(stack)
          ? 'made in forward'
          : 'made outside the model',
    facts: [
      ...(lead.madeAt === undefined ? [] : [{ label: 'allocated at', text: lead.madeAt }]),
      { label: 'steps are', text: sequence.description },
      { label: 'began at step', count: beginOf(sites) },
      { label: 'kept by the end', bytes },
      {
        label: 'share of the peak',
        text: formatPercent(bytes / context.input.replay.peaks.allocatedBytes.bytes),
      },
      { label: 'how it grows', text: lawText(law) },
      { label: 'requested, before rounding', bytes: sumBy(kept, (id) => requestedBytes[id]) },
    ],
    ids,
    series: series('step', 'bytes kept', sequence.bounds.subarray(1), runningTotals(sites)),
    advice: adviceFor(group.kind === 'kept-graph' ? 'kept-graph' : 'kept', pattern),
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
  });
}

/** What keeps the memory, judged by the code on the stack and the growth law. */
function patternOf(
  context: AnalysisInput,
  { kind, sites: [site] }: GrowthGroup,
  law: GrowthLaw,
): Pattern | undefined {
  if (law.kind === 'by-key') return 'unbounded-cache';
  if (kind === 'kept-hook') return 'kept-by-hook';
  if (kind === 'kept-optimizer') return 'kept-optimizers';
  return kind === 'kept-tensor' && isLeftByErrors(context, site.kept)
    ? 'kept-exceptions'
    : undefined;
}

function runningTotals(sites: readonly GrowingSite[]): number[] {
  let total = 0;
  return bytesByStep(sites).map((bytes) => {
    total += bytes;
    return total;
  });
}

/** 'by about the same each time'. */
function lawText(law: GrowthLaw): string {
  const { kind, keptBytes, steps, sizes, pieces } = law;
  const range = `${formatBytes(pieces[0])} to ${formatBytes(pieces[1])}`;
  switch (kind) {
    case 'growing':
      return `by more each time: ${formatBytes(keptBytes[0])} at first, ${formatBytes(keptBytes[keptBytes.length - 1])} at last`;
    case 'by-key':
      return `by one piece for each new key, as a cache without a limit does: ${plural(sizes, 'size')}, ${range}`;
    case 'in-bursts':
      return `in ${keptBytes.length} of ${plural(steps, 'step')}, and not in the others`;
    case 'flat':
      return isUneven(law)
        ? `by about the same each time on average, in pieces of ${range}`
        : 'by about the same each time';
  }
}

/** Steps differ by more than a quarter of the mean. */
function isUneven({ keptBytes }: GrowthLaw): boolean {
  // The first may include set-up, and the last is not over.
  const inner = keptBytes.length > 4 ? keptBytes.slice(1, -1) : keptBytes;
  return highest(inner) - lowest(inner) > 0.25 * mean(inner);
}
