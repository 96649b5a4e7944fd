/** A segment in words. */
import { privatePoolText, streamText } from '../device/allocation-details.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { timeOfEventUs } from '../device/event-times.ts';
import type { FrameView, StackView } from '../device/types.ts';
import { NEVER } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { SegmentLife, SegmentLives } from './segment-lives.ts';

export interface SegmentFacts {
  readonly row: SegmentLife;
  /** As PyTorch's viewer writes it: s7f064c000000_0, address in hex and count of earlier ones there. */
  readonly label: string;
  readonly sizeBytes: number;
  readonly pool: 'small' | 'large';
  /** Private pool id as "(1, 0)"; undefined for the default pool. */
  readonly privatePool: string | undefined;
  /** A mapped piece of an expandable segment, and no cudaMalloc of its own. */
  readonly isExpandable: boolean;
  readonly stream: string;
  /** -1: reserved before the trace. */
  readonly startEvent: EventIndex;
  /** NEVER: still reserved at the end. */
  readonly endEvent: EventIndex;
  /** Microseconds since the first event; NaN where not known. */
  readonly startUs: number;
  readonly endUs: number;
  /** The user's own line that made it grow; undefined without a stack. */
  readonly topFrame: FrameView | undefined;
  readonly stack: StackView;
  /** What gave it back: empty_cache, or an allocation that ran out. Undefined while reserved. */
  readonly releaseStack: StackView | undefined;
}

export function segmentFacts(
  { snapshot, trace, stacks }: DeviceContext,
  lives: SegmentLives,
  row: SegmentLife,
): SegmentFacts {
  const { start, end, stack } = lives;
  const isReleased = end[row] !== NEVER;
  return {
    row,
    label: `s${snapshot.addresses.toHex(lives.address[row])}_${earlierAt(lives, row)}`,
    sizeBytes: lives.sizeBytes[row],
    pool: lives.isSmall[row] === 1 ? 'small' : 'large',
    privatePool: privatePoolText(trace.pools[lives.pool[row]]),
    isExpandable: lives.isExpandable[row] === 1,
    stream: streamText(trace.streams[lives.stream[row]]),
    startEvent: start[row],
    endEvent: end[row],
    startUs: timeOfEventUs(trace.events, start[row]),
    endUs: timeOfEventUs(trace.events, end[row]),
    topFrame: stacks.topUserFrameView(stack[row]),
    stack: stacks.view(stack[row], start[row] < 0),
    releaseStack: isReleased ? stacks.view(trace.events.stack[end[row]]) : undefined,
  };
}

function earlierAt({ address }: SegmentLives, row: SegmentLife): number {
  let earlier = 0;
  for (let other = 0; other < row; other++) if (address[other] === address[row]) earlier++;
  return earlier;
}
