/** The one line of the user's that a verdict says to look at first, and what it has to do with the memory. */
import type { FrameView } from '../device/types.ts';
import type { Finding } from './detectors.ts';
import type { LineRole } from './types.ts';

export interface VerdictLine {
  readonly frame: FrameView;
  /** What the line does: 'holds most'. '' where that is not known. */
  readonly does: string;
}

const DOES: Readonly<Record<LineRole, string>> = {
  // Who holds it is not known: a stack says where it was allocated, and no more.
  'allocated at': 'allocates it',
  'stored at': 'stores it',
  'started at': 'starts it',
  'held by': 'holds most',
  'pinned by': 'pins memory',
  'requested by': 'asked for it',
  'called by': 'calls the model',
};

/** Undefined where nothing of the finding has a line. */
export function lineOf({
  detector,
  frame,
  frameIs,
  holderFrame,
  batchFrame,
}: Finding): VerdictLine | undefined {
  if (batchFrame !== undefined) return { frame: batchFrame, does: 'gets the larger batch' };
  // Who asks last is seldom who fills the memory.
  if (holderFrame !== undefined) return { frame: holderFrame, does: DOES['held by'] };
  if (frame === undefined) return undefined;
  if (detector === 'fragmentation' && frameIs === 'requested by') {
    return { frame, does: 'asks for many sizes' };
  }
  return { frame, does: frameIs === undefined ? '' : DOES[frameIs] };
}
