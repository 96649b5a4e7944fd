/**
 * Activations that fall with the stage: in a one-forward-one-backward (1F1B) pipeline of 4 stages, stage 0 holds four
 * micro-batches at its peak, stage 1 three, and the last one. That is by design, and no outlier.
 */

import { sumBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import { formatBytes } from '../../base/format.ts';
import type { RankLines } from './rank-lines.ts';

export interface PipelineStages {
  /** Bytes that fall with the stage, by position. */
  readonly bytes: readonly number[];
  /** Ranks with the same level are one stage, or stages that hold the same amount. */
  readonly level: readonly number[];
  readonly text: string;
}

/** Share of the highest: smaller differences count as equal. */
const SAME_LEVEL = 0.05;
/** Share of the peaks: a smaller fall explains nothing. */
const MIN_FALL = 0.05;
const MIN_LEVELS = 3;
/** A falling line may still rise by this factor from one rank to the next. */
const SLACK = 1.02;

/**
 * Undefined if memory does not fall with the rank. `ranks`: all of one job, in order, with at least two roles (the
 * first and last stages differ from those between).
 */
export function findPipeline(
  ranks: readonly RankLines[],
  numbers: readonly number[],
): PipelineStages | undefined {
  if (ranks.length < MIN_LEVELS) return undefined;
  const falling = fallingLines(ranks);
  const bytes = ranks.map((rank) => sumBy(falling, (line) => rank.use(line).bytes));
  const level = levelsOf(bytes);
  const fall = bytes[0] - (bytes.at(-1) ?? 0);
  const peaks = ranks.map(({ summary }) => summary.peak.allocatedBytes.bytes ?? 0);
  if ((level.at(-1) ?? 0) + 1 < MIN_LEVELS || fall < MIN_FALL * median(peaks)) return undefined;
  const first = `${formatBytes(bytes[0])} on rank ${numbers[0]}`;
  const last = `${formatBytes(bytes.at(-1) ?? 0)} on rank ${numbers.at(-1)}`;
  return {
    bytes,
    level,
    text: `Activations fall with the stage, as in a 1F1B pipeline: from ${first} to ${last}.`,
  };
}

/** Lines on all ranks whose bytes fall from rank to rank, with the least on the last. */
function fallingLines(ranks: readonly RankLines[]): string[] {
  const [first, ...others] = ranks;
  return [...first.uses].flatMap(([line, { bytes, frame }]) => {
    // Without a stack, one "line" mixes many kinds of memory.
    if (frame === null || bytes === 0) return [];
    let before = bytes;
    for (const other of others) {
      const own = other.use(line).bytes;
      if (own > before * SLACK) return [];
      before = own;
    }
    return before < bytes * (1 - SAME_LEVEL) ? [line] : [];
  });
}

/** 0 for the first rank, one more after each fall. */
function levelsOf(bytes: readonly number[]): number[] {
  let level = 0;
  let standing = bytes[0];
  return bytes.map((own) => {
    if (own < standing - SAME_LEVEL * bytes[0]) {
      level++;
      standing = own;
    }
    return level;
  });
}
