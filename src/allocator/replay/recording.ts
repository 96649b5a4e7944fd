/** How much of the process a trace shows, and whether it ends where the file does. */
import { BlockState, type DeviceTrace } from '../../format/snapshot/tables.ts';
import type { BlockList } from './block-list.ts';
import type { Preexisting } from './preexisting.ts';
import type { Recording } from './types.ts';

export interface RecordingVerdict {
  readonly recording: Recording;
  /** One sentence for the user. */
  readonly reason: string;
}

/**
 * Late and truncated look alike: blocks are there that no event made. Truncated it is when the file
 * says so, when such a block or segment has a stack (someone recorded it, and the entry is gone), or
 * when the trace has exactly as many entries as someone would ask for.
 */
export function judgeRecording(trace: DeviceTrace, before: Preexisting): RecordingVerdict {
  const { length } = trace.events;
  if (length === 0) {
    return {
      recording: 'none',
      reason: 'This device has no recorded history, only its final state.',
    };
  }
  if (trace.opening !== undefined) {
    return {
      recording: 'preexisting',
      reason:
        'This is part of a longer recording, which also has the state before its first event.',
    };
  }
  if (trace.ringOverflowed === true) {
    return truncated('PyTorch reports that it dropped the oldest events');
  }
  const blocks = before.blocks.length;
  const segments = before.segments.length;
  if (blocks === 0 && segments === 0) {
    return { recording: 'complete', reason: 'Nothing was allocated before the first event.' };
  }
  if (before.blocks.some((block) => block.stack > 0)) {
    return truncated('Some blocks have a recorded stack, but their alloc events are gone');
  }
  if (before.segments.some((segment) => segment.stack > 0)) {
    return truncated(
      'Some segments have a recorded stack, but their segment_alloc events are gone',
    );
  }
  if (trace.ringOverflowed === undefined && isRound(length)) {
    return truncated(
      `${blocks} blocks existed before the first event, and the trace has exactly ${length} events, so it probably reached max_entries`,
    );
  }
  return {
    recording: 'preexisting',
    reason: `Recording began late: ${blocks} blocks in ${segments} segments existed before the first event.`,
  };
}

function truncated(why: string): RecordingVerdict {
  return { recording: 'truncated', reason: `${why}, so the beginning of the recording is lost.` };
}

/** 3,000, 100,000, 65,536: numbers that people give as max_entries. */
function isRound(length: number): boolean {
  const isPowerOfTwo = length >= 1024 && 2 ** Math.round(Math.log2(length)) === length;
  return isPowerOfTwo || (length >= 1000 && length % 1000 === 0);
}

/**
 * One message for each block that the final segments and the end of the trace do not have in common.
 * The segments are written after the trace and not at the same moment, so a program that runs on
 * makes a few; a recording without whole kinds of entries makes many.
 */
export function* endDifferences(trace: DeviceTrace, replayed: BlockList): Iterable<string> {
  const { blocks, segments } = trace;
  if (segments.length === 0) return;
  let found = 0;
  for (let b = 0; b < blocks.length; b++) {
    if (blocks.state[b] === BlockState.Inactive) continue;
    const block = replayed.at(blocks.address[b]);
    const isLive = block >= 0 && replayed.allocation(block) >= 0;
    if (isLive) found++;
    if (!isLive) yield 'the final segments hold a block that is not live in the trace';
    else if (replayed.bytes(block) !== blocks.sizeBytes[b]) {
      yield 'a block has another size in the final segments';
    }
  }
  for (; found < replayed.liveCount; found++) {
    yield 'a block is live at the end that the final segments do not hold';
  }
}
