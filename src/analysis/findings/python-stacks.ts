/**
 * A recording's call stacks with Python frames only, as if recorded with `stacks="python"`.
 *
 * By default PyTorch records C++ frames too (`stacks="all"`). One line of Python then has many stacks, one for each
 * path through the dispatcher, and a backward thread, which runs no Python, has a C++ stack:
 *
 *     train.py:21 step                    train.py:21 step
 *     ├ nn/linear.py:125 forward          └ nn/linear.py:125 forward     one row for both
 *     │ └ at::addmm                ───→
 *     └ nn/linear.py:125 forward          (empty stack)                  of the backward thread
 *       └ at::empty
 *     AddmmBackward0::apply
 *
 * The detectors compare call sites, so they read these rows and give the same findings for both kinds of recording.
 */
import { keepOnlyFrames, pythonFrameMask, StackReader } from '../../device/model/stacks.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { DeviceTables } from './types.ts';

export interface PythonStacks {
  /** The recording with Python frames only; the recording itself if that changes nothing. */
  readonly input: DeviceTables;
  /**
   * For a row with Python frames: some recorded stack with exactly these, for showing its C++ frames. Undefined if the
   * recording is unchanged.
   */
  readonly recordedStack: ((stack: StackIndex) => StackIndex) | undefined;
}

/** A recording without any Python frame (a libtorch program) keeps its C++ frames. */
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
