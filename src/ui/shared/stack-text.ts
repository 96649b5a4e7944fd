import { frameLocation, fullPlace } from '../../core/device/frame-text.ts';
import type { FrameView, StackKind } from '../../core/device/types.ts';

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
      return 'Context was recorded, but the thread ran no Python at that moment. That is usual for autograd’s backward threads.';
    case 'no-context':
      return 'The recording kept no stack for this event. Record with context="all" and stacks="python" or "all" to get one.';
    case 'before-recording':
      return 'This block was there before recording began, so the line that made it is not in the file. Start recording earlier to see it.';
  }
}
