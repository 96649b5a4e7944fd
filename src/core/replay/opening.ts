/** What was there before the first event, of a part that was cut out of a recording: it says so itself. */
import { AddressMap } from '../base/address-map.ts';
import {
  BlockState,
  type DeviceTrace,
  type InitialState,
  TraceAction,
} from '../snapshot/tables.ts';
import type { Preexisting, PreexistingBlock } from './preexisting.ts';
import { segmentFields } from './segment-tracker.ts';
import { NEVER } from './types.ts';

export function openingOf(trace: DeviceTrace, opening: InitialState): Preexisting {
  const ends = firstFrees(trace);
  const found = openingBlocks(opening).map((block) => {
    const end = ends.get(block.address);
    return { ...block, end: end < 0 ? NEVER : end };
  });
  return {
    blocks: found.sort((a, b) => b.end - a.end || a.address - b.address),
    segments: Array.from({ length: opening.segments.length }, (_, s) =>
      segmentFields(opening.segments, s),
    ),
  };
}

function openingBlocks({ segments, blocks }: InitialState): Omit<PreexistingBlock, 'end'>[] {
  const found: Omit<PreexistingBlock, 'end'>[] = [];
  for (let s = 0; s < segments.length; s++) {
    for (let row = segments.firstBlock[s]; row < segments.firstBlock[s + 1]; row++) {
      if (blocks.state[row] === BlockState.Inactive) continue;
      found.push({
        address: blocks.address[row],
        requestedBytes: blocks.requestedBytes[row],
        sizeBytes: blocks.sizeBytes[row],
        stream: segments.stream[s],
        stack: blocks.stack[row],
        isPending: blocks.state[row] === BlockState.PendingFree,
      });
    }
  }
  return found;
}

/** The first free_completed at each address: a block that is there keeps its address to itself. */
function firstFrees({ events }: DeviceTrace): AddressMap {
  const first = new AddressMap();
  for (let t = 0; t < events.length; t++) {
    if (events.action[t] !== TraceAction.FreeCompleted) continue;
    if (first.get(events.address[t]) < 0) first.set(events.address[t], t);
  }
  return first;
}
