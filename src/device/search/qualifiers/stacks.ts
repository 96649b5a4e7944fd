import { NO_STACK, type Snapshot } from '../../../format/snapshot/tables.ts';
import type { FrameView } from '../../model/types.ts';
import { allocationLabelled, maskOf, noteOfFrames, onceForEach, stacksOfFrames } from '../masks.ts';
import { quotedTerm, type StackQualifier } from '../qualifier.ts';

/** The stack contains exactly that frame. */
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

/** By FrameIndex: 1 = the frame has this spelling. */
function framesSpelled({ strings, frames }: Snapshot, spelling: string): Uint8Array {
  // Only these can be part of it, so few spellings need to be built.
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

/** Stacks with exactly that frame: frame:"forward@/home/me/model.py:12". */
export function frameTerm(frame: SpelledFrame): string {
  return quotedTerm('frame', frameText(frame));
}

/** A frame in the search language. */
export function frameText({ name, filename, line }: SpelledFrame): string {
  return `${name}@${filename}:${line}`;
}

/** The call site of one allocation, see `StackReader.siteOf`. Allocations without a stack share one site. */
export interface SiteCondition {
  readonly kind: 'site';
  /** Label of that allocation. */
  readonly label: string;
}

const ALLOCATION_LABEL = /^b[0-9a-f]{1,16}_\d{1,9}$/i;

export const SITE: StackQualifier<SiteCondition> = {
  name: 'site',
  help: 'the name of an allocation',
  examples: ['site:b7f064c000000_0'],
  parse: (value) =>
    ALLOCATION_LABEL.test(value) ? { kind: 'site', label: value.toLowerCase() } : undefined,
  matchStacks(context, { label }) {
    const { snapshot, replay, stacks: reader } = context;
    const stacks = new Uint8Array(snapshot.stacks.length - NO_STACK);
    const { allocation, note } = allocationLabelled(context, label);
    if (allocation >= 0) {
      const site = reader.siteOf(replay.allocations.stack[allocation]);
      for (let row = 0; row < stacks.length; row++) {
        if (reader.siteOf(row + NO_STACK) === site) stacks[row] = 1;
      }
    }
    return { stacks, note };
  },
};

/** Allocations with the same call site: site:b7f064c000000_0. */
export function siteTerm(label: string): string {
  return `site:${label}`;
}
