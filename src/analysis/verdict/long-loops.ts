/**
 * A loop within the forward pass whose turns are most of the peak: the time steps of a recurrence or of a decoder. No fault,
 * but its length is what to look at first:
 *
 *     for t in range(max(lengths)):     101 turns in each pass, though captions have 20 words: they are padded
 *         h = self.attention(out, h)    101 × 49 MiB
 */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { addUp, countOne, groupBy, largestFirst, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import type { FrameView } from '../../device/model/types.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { largestGroup } from '../account/line-share.ts';
import { type Account, allocationsOf } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { isSameLine, rowsOf, userLines } from '../findings/user-lines.ts';
import { type ForwardRun, forwardRuns } from '../steps/forward-runs.ts';
import { type Diagnosis, DOES, plain } from './case.ts';
import { MIN_BYTES } from './outstaying.ts';

/** A network has fewer layers of one line. */
const MIN_TURNS = 64;
/** Of the peak. */
const LOOP_SHARE = 0.5;
/** Of the turns: the last ones may be cut off. */
const SAME_TURNS = 0.9;
/** Smaller parameters may have one size by chance. */
const MIN_PARAMETER = 2 ** 16;

/** The loop of the largest pass at the account's moment; undefined if its turns are a small part of the peak. */
export function longLoop(context: AnalysisInput, account: Account): Diagnosis | undefined {
  const { sizeBytes, start, freeRequested } = context.input.replay.allocations;
  const { event } = account.moment;
  const least = Math.max(MIN_BYTES, LOOP_SHARE * account.allocatedBytes);
  const isLive = (id: AllocationIndex) => start[id] <= event && freeRequested[id] > event;
  const liveBytes = ({ kept }: ForwardRun) => sumBy(kept.filter(isLive), (id) => sizeBytes[id]);
  // A criterion that ran after the model is a pass too.
  const runs = context
    .once(forwardRuns)
    .filter(({ first, keptBytes }) => start[first] <= event && keptBytes >= least);
  const lives = runs.map(liveBytes);
  const run = runs[lives.indexOf(highest(lives))];
  if (!context.isTraining || run === undefined) return undefined;
  const { turns, ids } = turnsOf(context, run, allocationsOf(account, ['activations']));
  const bytes = sumBy(ids, (id) => sizeBytes[id]);
  if (turns < MIN_TURNS || bytes < least) return undefined;
  if (areLayers(context, account, turns)) return undefined;
  return {
    ...plain('activations', bytes, linesOfLoop(context, ids), DOES['in it']),
    ...{ pattern: 'long-loop', severity: 'low', tensors: ids, turns },
  };
}

/**
 * How often the pass made a tensor at the stacks that have most of these bytes, and what was made as often. Only tensors of
 * one size: those of layers differ, and those of shorter sequences too.
 */
function turnsOf(
  context: AnalysisInput,
  { first, last }: ForwardRun,
  live: readonly AllocationIndex[],
) {
  const { stack, sizeBytes, requestedBytes } = context.input.replay.allocations;
  const own = live.filter((id) => id >= first && id <= last && stack[id] > EMPTY_STACK);
  const alike = [...groupBy(own, (id) => `${stack[id]} ${requestedBytes[id]}`).values()];
  const byCount = new Map<number, number>();
  for (const same of alike)
    addUp(
      byCount,
      same.length,
      sumBy(same, (id) => sizeBytes[id]),
    );
  const [[turns] = [0]] = largestFirst(byCount);
  // A turn may make several of one size at a line.
  const ids = alike.filter(({ length }) => {
    const each = Math.round(length / turns);
    return each >= 1 && Math.abs(length - each * turns) <= (1 - SAME_TURNS) * turns;
  });
  return { turns, ids: ids.flat() };
}

/** Layers of one line have parameters each, as many of one size as there are layers. */
function areLayers({ input }: AnalysisInput, account: Account, turns: number): boolean {
  const { requestedBytes } = input.replay.allocations;
  const counts = new Map<number, number>();
  for (const id of allocationsOf(account, ['parameters']))
    if (requestedBytes[id] >= MIN_PARAMETER) countOne(counts, requestedBytes[id]);
  return highest([0, ...counts.values()]) >= SAME_TURNS * turns;
}

/** The line of the loop that leads to the heaviest stack: where the stacks of a turn part. */
function linesOfLoop(context: AnalysisInput, ids: readonly AllocationIndex[]): FrameView[] {
  const { frame } = context.input.snapshot.stacks;
  const { stack } = context.input.replay.allocations;
  const heaviest = largestGroup(context, ids, (id) => stack[id])?.key;
  const others = [...new Set(ids.map((id) => stack[id]))].map(
    (own) => new Set(rowsOf(context.input, own)),
  );
  const rows = rowsOf(context.input, heaviest);
  const lead = rows[rows.findIndex((row) => others.every((own) => own.has(row))) - 1];
  const lines = userLines(context, heaviest);
  if (lead === undefined) return lines;
  const line = context.input.stacks.frame(frame[lead]);
  return lines.slice(
    Math.max(
      0,
      lines.findIndex((one) => isSameLine(one, line)),
    ),
  );
}
