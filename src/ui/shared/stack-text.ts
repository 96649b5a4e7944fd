import { shortPath } from '../../core/base/file-names.ts';
import type { FrameView, StackKind } from '../../core/device/types.ts';

/** 'train_step · run/scenarios.py:253' */
export function frameText(frame: FrameView): string {
  return `${frame.name} · ${placeText(frame)}`;
}

/** '…/scenarios.py:253'; without the line where the unwinder knew none. */
export function placeText({ filename, line }: FrameView): string {
  return line === 0 ? shortPath(filename) : `${shortPath(filename)}:${line}`;
}

/** What is copied: the whole path. */
export function fullPlace({ filename, line }: FrameView): string {
  return line === 0 ? filename : `${filename}:${line}`;
}

/** Why there is no stack, in full; absenceText (core/device) is the short form. */
export function absenceExplanation(kind: StackKind): string {
  switch (kind) {
    case 'recorded':
      return 'A stack was recorded, but it holds no frames.';
    case 'no-python-stack':
      return 'Context was recorded, but the thread ran no Python at that moment. That is usual for autograd’s backward threads.';
    case 'no-context':
      return 'The recording kept no stack for this event. Record with context="all" and stacks="python" or "all" to get one.';
    case 'before-recording':
      return 'This block was there before recording began, so the line that made it is not in the file. Start recording earlier to see it.';
  }
}
