/**
 * What the lines of one source file have to do with memory, as a line profiler shows it: a line counts what it
 * allocated itself and what the functions that it called allocated.
 *
 *   def step(batch):
 *       out = model(batch)        # every activation of the model
 *       return loss(out)          # those of the loss
 */
import { getOrMake } from '../../base/collections.ts';
import { weighStacks } from '../flame-graph/stack-weights.ts';
import type { FlameSet } from '../flame-graph/types.ts';
import type { DeviceModel } from '../model/device-model.ts';

/** Bytes are those of blocks, as memory_allocated() counts them. */
export interface SourceLine {
  /** From 1 on; 0 if the recording does not say. */
  readonly line: number;
  /** Of all allocations, including those that were freed. */
  readonly allocatedBytes: number;
  /** Live at the peak of allocated memory. */
  readonly peakBytes: number;
  /** Live at the end of the recording. */
  readonly endBytes: number;
  readonly allocations: number;
  /** The function that the line is in; that of one of them if it is in several. */
  readonly name: string;
}

/** The sums of a stack, in the order of {@link SourceLine}. */
type Sums = [allocatedBytes: number, peakBytes: number, endBytes: number, allocations: number];

/**
 * The lines of a file that are in any stack, in order. A line that a stack has twice (recursion) counts once.
 * @param filename as recorded
 */
export function sourceLines(context: DeviceModel, filename: string): readonly SourceLine[] {
  const { snapshot, replay, trace } = context;
  const { strings, frames, stacks } = snapshot;
  const last = trace.events.length - 1;
  const weigh = (set: FlameSet, weight: 'allocated' | 'count') =>
    weighStacks(context, { set, weight }).value;
  // Blocks from before the recording have no stack, so no line.
  const all: FlameSet = { kind: 'window', from: 0, to: last + 1 };
  const columns = [
    weigh(all, 'allocated'),
    weigh({ kind: 'live', event: replay.peaks.allocatedBytes.event }, 'allocated'),
    weigh({ kind: 'live', event: last }, 'allocated'),
    weigh(all, 'count'),
  ];
  const isOfFile = Uint8Array.from({ length: frames.length }, (_, frame) =>
    Number(strings.get(frames.filename[frame]) === filename),
  );
  const sumsOf = new Map<number, Sums>();
  const nameOf = new Map<number, string>();
  const seen = new Set<number>();
  for (let stack = 1; stack < stacks.length; stack++) {
    if (columns.every((column) => column[stack] === 0)) continue;
    seen.clear();
    for (const frame of context.stacks.frames(stack)) {
      if (isOfFile[frame] !== 1) continue;
      seen.add(frames.line[frame]);
      nameOf.set(frames.line[frame], strings.get(frames.name[frame]));
    }
    for (const line of seen) {
      const sums = getOrMake(sumsOf, line, (): Sums => [0, 0, 0, 0]);
      columns.forEach((column, index) => {
        sums[index] = (sums[index] ?? 0) + (column[stack] ?? 0);
      });
    }
  }
  return [...sumsOf]
    .sort(([a], [b]) => a - b)
    .map(([line, [allocatedBytes, peakBytes, endBytes, allocations]]) => ({
      line,
      allocatedBytes,
      peakBytes,
      endBytes,
      allocations,
      name: nameOf.get(line) ?? '',
    }));
}
