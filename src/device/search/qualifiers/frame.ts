import type { Snapshot } from '../../../format/snapshot/tables.ts';
import type { FrameView } from '../../model/types.ts';
import { maskOf, noteOfFrames, onceForEach, stacksOfFrames } from '../masks.ts';
import { quoteText, type StackQualifier } from '../qualifier.ts';

/** The stack has exactly that frame. */
export interface FrameCondition {
  readonly kind: 'frame';
  /** "name@file:line", as `frameText` writes it. */
  readonly frame: string;
}

export const FRAME: StackQualifier<FrameCondition> = {
  name: 'frame',
  help: 'a function, a file and a line',
  examples: ['frame:"forward@model.py:12"'],
  parse: (value) => (value === '' ? undefined : { kind: 'frame', frame: value }),
  matchStacks(context, { frame }) {
    const frames = framesSpelled(context.snapshot, frame);
    const stacks = stacksOfFrames(context.snapshot, frames);
    return { frames, stacks, note: noteOfFrames(context) };
  },
};

/** By FrameIndex: 1 = the frame is spelled so. */
function framesSpelled({ strings, frames }: Snapshot, spelling: string): Uint8Array {
  // Only these can be part of it, so that few spellings are put together.
  const isPart = onceForEach(strings.length, (row) => spelling.includes(strings.get(row)));
  return maskOf(frames.length, (frame) => {
    const name = frames.name[frame];
    const filename = frames.filename[frame];
    if (!isPart(name) || !isPart(filename)) return false;
    const text = frameText({
      name: strings.get(name),
      filename: strings.get(filename),
      line: frames.line[frame],
    });
    return text === spelling;
  });
}

type SpelledFrame = Pick<FrameView, 'name' | 'filename' | 'line'>;

/** Stacks with that very frame: frame:"forward@/home/me/model.py:12". */
export function frameTerm(frame: SpelledFrame): string {
  return `frame:${quoteText(frameText(frame))}`;
}

/** How the language spells a frame. */
export function frameText({ name, filename, line }: SpelledFrame): string {
  return `${name}@${filename}:${line}`;
}
