import { frameLocation, fullPlace } from '../../device/model/frame-text.ts';
import type { FrameView, StackKind } from '../../device/model/types.ts';

/** What a frame that is written short says when it is pointed at: all that was recorded. */
export function frameTitle(frame: FrameView): string {
  return frameLocation(frame) === undefined ? frame.name : `${frame.name}\n${fullPlace(frame)}`;
}

/** Why there is no stack, in full; absenceText (core/device) is the short form. */
export function absenceExplanation(kind: StackKind): string {
  switch (kind) {
    case 'recorded':
      return 'Only C++ frames that every stack has were recorded: nothing in them says what was computed.';
    case 'no-python-stack':
      return 'The thread ran no Python at that moment: autograd runs the backward pass in threads of its own.';
    case 'no-context':
      return 'No stack was recorded for this event. Record with context="all" and stacks="python" or "all" to get one.';
    case 'before-recording':
      return 'This block was allocated before recording began, so the file does not say which line made it. Start recording earlier to see it.';
  }
}
