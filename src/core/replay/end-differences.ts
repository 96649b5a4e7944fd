/** Whether the replay ends where the file does. */
import { BlockState, type DeviceTrace } from '../snapshot/tables.ts';
import type { BlockList } from './block-list.ts';

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
