/**
 * A recording's call stacks with the Python frames alone, as if it had been made with `stacks="python"`.
 *
 * PyTorch records C++ frames too by default (`stacks="all"`). A line of Python then has many stacks, one
 * for each way through the dispatcher, and a backward thread, which runs no Python, has one of C++:
 *
 *     train.py:21 step                    train.py:21 step
 *     ├ nn/linear.py:125 forward          └ nn/linear.py:125 forward     one row for both
 *     │ └ at::addmm                ───→
 *     └ nn/linear.py:125 forward          (empty stack)                  of the backward thread
 *       └ at::empty
 *     AddmmBackward0::apply
 *
 * The detectors compare call sites, so they read these rows. A program that is recorded in both ways gets
 * the same findings because both recordings are the same to them.
 */
import { keepOnlyFrames, pythonFrameMask, StackReader } from '../../device/model/stacks.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceTables } from './types.ts';

export interface PythonStacks {
  /** The recording with Python's frames alone; the recording itself where that would change nothing. */
  readonly input: DeviceTables;
  /**
   * Of a row with Python frames, some stack of the recording that has just these, for showing its C++ frames;
   * undefined where the recording is as it was.
   */
  readonly recordedStack: ((stack: StackIndex) => StackIndex) | undefined;
}

/** Without any Python frame (a libtorch program) the C++ frames are all there is, and stay. */
export function pythonStacks(input: DeviceTables): PythonStacks {
  const isPython = pythonFrameMask(input.snapshot.frames.length, (frame) =>
    input.stacks.isPython(frame),
  );
  if (!isPython.includes(1) || !isPython.includes(0)) return { input, recordedStack: undefined };
  const { stacks, rowOf, recordedOf } = keepOnlyFrames(input.snapshot.stacks, isPython);
  const mapped = (column: Int32Array): Int32Array =>
    column.map((stack) => (stack > EMPTY_STACK ? rowOf[stack] : stack));
  const snapshot = { ...input.snapshot, stacks };
  const { trace, replay } = input;
  return {
    input: {
      snapshot,
      stacks: new StackReader(snapshot),
      trace: {
        ...trace,
        events: { ...trace.events, stack: mapped(trace.events.stack) },
        segments: { ...trace.segments, stack: mapped(trace.segments.stack) },
        blocks: { ...trace.blocks, stack: mapped(trace.blocks.stack) },
      },
      replay: {
        ...replay,
        allocations: { ...replay.allocations, stack: mapped(replay.allocations.stack) },
        segmentSpans: { ...replay.segmentSpans, stack: mapped(replay.segmentSpans.stack) },
      },
    },
    recordedStack: (stack) => (stack > EMPTY_STACK ? recordedOf[stack] : stack),
  };
}
