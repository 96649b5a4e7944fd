/**
 * Free memory of private pools (CUDA graphs, MemPools). Replays of a graph write there, so it stays reserved for the
 * graph while that lives, and serves nothing else. Graphs that are captured one by one have a pool each:
 *
 *     for length in lengths: graphs[length] = capture(model, length)     23 pools, 3.53 GiB
 *
 * One pool for all would hold as much as the largest, if no two of them run at the same time.
 */
import { isPrivatePool } from '../../allocator/replay/types.ts';
import { highest } from '../../base/extremes.ts';
import type { FrameView } from '../../device/model/types.ts';
import { poolHistories } from '../../device/serving/pools.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { rowsOf } from '../findings/user-lines.ts';

/** The innermost user line that all that is allocated in private pools has in common: what makes the pools. */
export function linesOfPools({ input }: AnalysisInput): FrameView[] {
  const { frame } = input.snapshot.stacks;
  const { pool, stack } = input.replay.allocations;
  const stacks = new Set<StackIndex>();
  pool.forEach((own, id) => {
    if (stack[id] > EMPTY_STACK && isPrivatePool(input.trace.pools[own])) stacks.add(stack[id]);
  });
  const [first = [], ...others] = [...stacks].map((own) => rowsOf(input, own));
  const shared = others.reduce((rows, other) => rows.filter((row) => other.includes(row)), first);
  const row = shared.find((own) => input.stacks.frame(frame[own]).kind === 'user');
  return row === undefined ? [] : [input.stacks.frame(frame[row])];
}

/** Graphs with a pool of their own, and the most that one of them reserved. */
export const poolsOfGraphs = (context: AnalysisInput) => context.once(countPools);

function countPools({ input }: AnalysisInput) {
  const graphs = poolHistories(input).filter(({ kind }) => kind === 'CUDA graph');
  const bytes = graphs.map(({ curve }) => highest(curve.reservedBytes));
  return { count: graphs.length, largestBytes: highest([0, ...bytes]) };
}
