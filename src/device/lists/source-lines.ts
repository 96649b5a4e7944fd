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
export type SourceLine = ReturnType<typeof sourceLines>[number];

/**
 * The lines of a file that are in any stack, in order. A line that a stack has twice (recursion) counts once.
 * @param filename as recorded
 */
export function sourceLines(context: DeviceModel, filename: string) {
  const { snapshot, replay, trace } = context;
  const { strings, frames, stacks } = snapshot;
  const last = trace.events.length - 1;
  const weigh = (set: FlameSet, weight: 'allocated' | 'count') =>
    weighStacks(context, { set, weight }).value;
  const recorded: FlameSet = { kind: 'window', from: 0, to: last + 1 };
  // Some of what is older than a ring's first event still has its stack: PyTorch keeps that of each live block.
  const older: FlameSet = { kind: 'live', event: -1 };
  const inAll = (weight: 'allocated' | 'count') => {
    const before = weigh(older, weight);
    return weigh(recorded, weight).map((value, stack) => value + before[stack]);
  };
  const peak: FlameSet = { kind: 'live', event: replay.peaks.allocatedBytes.event };
  const allocatedBytes = inAll('allocated');
  const peakBytes = weigh(peak, 'allocated');
  const endBytes = weigh({ kind: 'live', event: last }, 'allocated');
  const allocations = inAll('count');
  const columns = [allocatedBytes, peakBytes, endBytes, allocations];
  const newLine = (line: number) => ({
    /** From 1 on; 0 if the recording does not say. */
    line,
    /** Of all allocations, including those that were freed. */
    allocatedBytes: 0,
    /** Live at the peak of allocated memory. */
    peakBytes: 0,
    /** Live at the end of the recording. */
    endBytes: 0,
    allocations: 0,
    /** The function that the line is in; that of one of them if it is in several. */
    name: '',
  });
  const isOfFile = Uint8Array.from({ length: frames.length }, (_, frame) =>
    Number(strings.get(frames.filename[frame]) === filename),
  );
  const lines = new Map<number, ReturnType<typeof newLine>>();
  const seen = new Map<number, string>();
  for (let stack = 1; stack < stacks.length; stack++) {
    if (columns.every((column) => column[stack] === 0)) continue;
    seen.clear();
    for (const frame of context.stacks.frames(stack)) {
      if (isOfFile[frame] === 1) seen.set(frames.line[frame], strings.get(frames.name[frame]));
    }
    for (const [at, name] of seen) {
      const line = getOrMake(lines, at, () => newLine(at));
      line.allocatedBytes += allocatedBytes[stack];
      line.peakBytes += peakBytes[stack];
      line.endBytes += endBytes[stack];
      line.allocations += allocations[stack];
      line.name = name;
    }
  }
  return [...lines.values()].sort((a, b) => a.line - b.line);
}
