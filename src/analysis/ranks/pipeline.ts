/**
 * Activations that fall with the stage: in a one-forward-one-backward (1F1B) pipeline of 4 stages, stage 0 holds four
 * micro-batches at its peak, stage 1 three, and the last one. That is by design, and no outlier.
 */

import { sumBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes } from '../../base/format.ts';
import type { Member } from './number-files.ts';
import type { RankLines } from './rank-lines.ts';

export type PipelineStages = NonNullable<ReturnType<typeof findPipeline>>;

/** Share of the highest: smaller differences count as equal. */
const SAME_LEVEL = 0.05;
/** Share of the peaks: a smaller fall explains nothing. */
const MIN_FALL = 0.05;
const MIN_LEVELS = 3;
/** A falling line may still rise by this factor from one rank to the next. */
const SLACK = 1.02;

/** Undefined if memory does not fall with the rank. `ranks`: all of one job, in order, with at least two roles. */
export function findPipeline(ranks: readonly Member[]) {
  if (ranks.length < MIN_LEVELS) return undefined;
  const lines = ranks.map((one) => one.lines);
  const falling = fallingLines(lines);
  const bytes = lines.map((one) => sumBy(falling, (line) => one.use(line).bytes));
  const level = levelsOf(bytes);
  const [first, last] = [bytes[0], bytes[bytes.length - 1]];
  const isDeep = level[level.length - 1] + 1 >= MIN_LEVELS;
  if (!isDeep || first - last < MIN_FALL * median(lines.map(({ peakBytes }) => peakBytes)))
    return undefined;
  const textOf = (own: number, rank: number | undefined) => `${formatBytes(own)} on rank ${rank}`;
  return {
    /** Bytes that fall with the stage, by rank. */
    bytes: new Map(ranks.map(({ rank }, i) => [rank, bytes[i]])),
    /** Ranks with the same level are one stage, or stages that hold the same amount. */
    level: new Map(ranks.map(({ rank }, i) => [rank, level[i]])),
    text: `Activations fall with the stage, as in a 1F1B pipeline: from ${textOf(first, ranks[0].rank)} to ${textOf(last, ranks.at(-1)?.rank)}.`,
  };
}

/** Lines on all ranks whose bytes fall from rank to rank, with the least on the last. */
function fallingLines([first, ...others]: readonly RankLines[]): string[] {
  return [...first.uses].flatMap(([line, { bytes, frame }]) => {
    // Without a stack, one "line" mixes many kinds of memory.
    if (frame === null || bytes === 0) return [];
    const held = [bytes, ...others.map((other) => other.use(line).bytes)];
    const isFalling = held.every((own, i) => i === 0 || own <= held[i - 1] * SLACK);
    return isFalling && held[held.length - 1] < bytes * (1 - SAME_LEVEL) ? [line] : [];
  });
}

/** 0 for the first rank, one more after each fall. */
function levelsOf(bytes: readonly number[]): number[] {
  let [level, standing] = [0, bytes[0]];
  return bytes.map((own) => {
    if (own < standing - SAME_LEVEL * bytes[0]) [level, standing] = [level + 1, own];
    return level;
  });
}
