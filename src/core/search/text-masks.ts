/**
 * Text conditions. A snapshot of millions of events speaks of a hundred strings: each is tested
 * once, then a frame is a look-up, a stack one step from its caller's, an allocation one look-up.
 */

import type { DeviceContext } from '../device/device-context.ts';
import type { FrameTable, Snapshot, StringIndex } from '../snapshot/tables.ts';
import { compileRegex } from './regex.ts';
import type { Condition, SearchProblem } from './types.ts';
import { frameText } from './write-terms.ts';

/** What a condition asks of texts. */
export interface TextTest {
  /** Of any string on its own. */
  readonly test: (text: string) => boolean;
  /** "train.py:12" asks of file and line together. */
  readonly place: { readonly file: string; readonly line: number } | undefined;
}

type TextCondition = Extract<Condition, { kind: 'text' | 'regex' }>;

const FILE_AND_LINE = /^(.+):(\d{1,9})$/s;

export function textTest(
  condition: TextCondition,
): { readonly test: TextTest } | { readonly problem: SearchProblem } {
  if (condition.kind === 'regex') {
    const compiled = compileRegex(condition.source);
    return 'problem' in compiled ? compiled : { test: { test: compiled.test, place: undefined } };
  }
  return { test: wordTest(condition.text) };
}

/** Any case: both sides in lower case. */
function wordTest(text: string): TextTest {
  const word = text.toLowerCase();
  const place = FILE_AND_LINE.exec(word);
  return {
    test: (tested) => tested.toLowerCase().includes(word),
    place: place === null ? undefined : { file: place[1], line: Number(place[2]) },
  };
}

/** By FrameIndex: 1 = its function, file, or file and line match. */
export function framesOfText({ strings, frames }: Snapshot, { test, place }: TextTest): Uint8Array {
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const isFile = onceForEach(strings.length, (row) =>
    strings
      .get(row)
      .toLowerCase()
      .endsWith(place?.file ?? ''),
  );
  return frameMask(frames, (frame) => {
    if (isHit(frames.name[frame]) || isHit(frames.filename[frame])) return true;
    return place?.line === frames.line[frame] && isFile(frames.filename[frame]);
  });
}

/** By FrameIndex: 1 = the frame is spelled so, see `frameText`. */
export function framesSpelled({ strings, frames }: Snapshot, spelling: string): Uint8Array {
  // Only these can be it, so that few spellings are put together.
  const endsRight = onceForEach(strings.length, (row) => spelling.includes(strings.get(row)));
  return frameMask(frames, (frame) => {
    const name = frames.name[frame];
    const filename = frames.filename[frame];
    if (!endsRight(name) || !endsRight(filename)) return false;
    const text = frameText({
      name: strings.get(name),
      filename: strings.get(filename),
      line: frames.line[frame],
    });
    return text === spelling;
  });
}

function frameMask(frames: FrameTable, isHit: (frame: number) => boolean): Uint8Array {
  const mask = new Uint8Array(frames.length);
  for (let frame = 0; frame < mask.length; frame++) if (isHit(frame)) mask[frame] = 1;
  return mask;
}

/** Row stack + 1: 1 = one of its frames is in the mask. A caller's row lies before its callees'. */
export function stacksOfFrames({ stacks }: Snapshot, frames: Uint8Array): Uint8Array {
  const mask = new Uint8Array(stacks.length + 1);
  for (let row = 1; row < stacks.length; row++) {
    mask[row + 1] = mask[stacks.parent[row] + 1] | frames[stacks.frame[row]];
  }
  return mask;
}

/** Allocations whose stack is in the mask (row stack + 1). */
export function allocationsOfStacks({ replay }: DeviceContext, stacks: Uint8Array): Uint8Array {
  const { length, stack } = replay.allocations;
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) mask[id] = stacks[stack[id] + 1];
  return mask;
}

/** The texts that an alloc event carries, each column undefined where none does. */
function eventLabels({ trace }: DeviceContext): readonly (Int32Array | undefined)[] {
  const { category, compileContext, userMetadata } = trace.events;
  return [category, compileContext, userMetadata];
}

/** Adds to the mask the allocations whose event carries a label that matches. */
export function addLabelled(
  context: DeviceContext,
  mask: Uint8Array,
  test: TextTest['test'],
): void {
  const { strings } = context.snapshot;
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const { start, preexisting, length } = context.replay.allocations;
  for (const column of eventLabels(context)) {
    if (column === undefined) continue;
    for (let id = preexisting; id < length; id++) {
      const row = column[start[id]];
      if (row > 0 && isHit(row)) mask[id] = 1;
    }
  }
}

/** Allocations whose event carries exactly that label; '' asks for those without any. */
export function allocationsLabelled(
  context: DeviceContext,
  column: Int32Array | undefined,
  label: string,
): Uint8Array {
  const { strings } = context.snapshot;
  const { start, preexisting, length } = context.replay.allocations;
  const isHit = onceForEach(strings.length, (row) => strings.get(row) === label);
  const mask = new Uint8Array(length);
  for (let id = 0; id < length; id++) {
    const row = id < preexisting ? 0 : Math.max(0, column?.[start[id]] ?? 0);
    if (isHit(row)) mask[id] = 1;
  }
  return mask;
}

/** A predicate over rows that asks `test` at most once for each. */
function onceForEach(
  length: number,
  test: (row: StringIndex) => boolean,
): (row: StringIndex) => boolean {
  /** 0 = not asked yet, 1 = no, 2 = yes. */
  const known = new Uint8Array(length);
  return (row) => {
    if (known[row] === 0) known[row] = test(row) ? 2 : 1;
    return known[row] === 2;
  };
}
