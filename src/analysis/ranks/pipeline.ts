/**
 * Activations that fall with the stage: of a pipeline that runs one forward, one backward (1F1B), stage 0 of 4
 * holds four micro-batches at its peak, stage 1 three, and the last one. That is how it works, and no outlier.
 */

import { median } from '../../base/extremes.ts';
import { formatBytes } from '../../base/format.ts';
import type { RankLines } from './rank-lines.ts';

export interface PipelineStages {
  /** Bytes that fall with the stage, by position. */
  readonly bytes: readonly number[];
  /** Ranks of one level are one stage, or stages that hold as much. */
  readonly level: readonly number[];
  readonly text: string;
}

/** Of the highest: ranks that differ by less hold as much. */
const SAME_LEVEL = 0.05;
/** Below this share of the peaks, a fall explains nothing. */
const MIN_FALL = 0.05;
const MIN_LEVELS = 3;
/** A line that falls may rise by so much from one rank to the next. */
const SLACK = 1.02;

/**
 * Undefined where memory does not fall with the rank. `ranks`: in order, all of one job, of at least two roles
 * (the first and the last stage differ from those between).
 */
export function findPipeline(
  ranks: readonly RankLines[],
  numbers: readonly number[],
): PipelineStages | undefined {
  if (ranks.length < MIN_LEVELS) return undefined;
  const falling = fallingLines(ranks);
  const bytes = ranks.map((rank) => falling.reduce((sum, line) => sum + rank.use(line).bytes, 0));
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

/** Lines of all ranks that hold less and less, and least on the last. */
function fallingLines(ranks: readonly RankLines[]): string[] {
  const [first, ...others] = ranks;
  return [...first.uses].flatMap(([line, { bytes, frame }]) => {
    // Without a stack, memory of many kinds is one line.
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
