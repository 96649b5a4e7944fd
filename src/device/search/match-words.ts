/**
 * Terms without a qualifier: words, regular expressions, addresses, blocks and segments. Millions of events refer to a
 * few hundred strings, so each string is tested once. Frames and allocations are then lookups, and each stack is one
 * step from its caller's.
 */

import type { AddressKey } from '../../base/address.ts';
import type { Snapshot } from '../../format/snapshot/tables.ts';
import { tensorNames } from '../classes/classify.ts';
import type { DeviceModel } from '../model/device-model.ts';
import {
  allocationLabelled,
  allocationsOfStacks,
  maskOf,
  noteOfFrames,
  onceForEach,
  stacksOfFrames,
} from './masks.ts';
import type { StackAnswer, TermAnswer } from './qualifier.ts';
import { compileRegex } from './regex.ts';
import type { SearchProblem, WordCondition } from './types.ts';

/** A pattern that cannot be compiled. `problem.at` counts from the pattern's start. */
interface Refusal {
  readonly problem: SearchProblem;
}

type TextCondition = Extract<WordCondition, { kind: 'text' | 'regex' }>;

/** What a condition tests texts for. */
interface TextTest {
  /** For any single string. */
  readonly test: (text: string) => boolean;
  /** "train.py:12" needs file and line together. */
  readonly fileAndLine: { readonly file: string; readonly line: number } | undefined;
}

export function matchWord(context: DeviceModel, condition: WordCondition): TermAnswer | Refusal {
  switch (condition.kind) {
    case 'text':
    case 'regex':
      return matchText(context, condition);
    case 'address':
      return matchAddress(context, condition.addresses, condition.orText);
    case 'allocation': {
      const { allocation, note } = allocationLabelled(context, condition.label);
      const mask = new Uint8Array(context.replay.allocations.length);
      if (allocation >= 0) mask[allocation] = 1;
      return { mask, note };
    }
    case 'segment':
      return {
        mask: segmentMask(context, condition.address, condition.nth),
        note: 'No segment with allocations in this trace was at that address.',
      };
  }
}

/** The stacks that a word matches; undefined if it can only be an address. */
export function matchWordStacks(
  context: DeviceModel,
  condition: WordCondition,
): StackAnswer | Refusal | undefined {
  const text = textOf(condition);
  if (text === undefined) return undefined;
  const found = textTest(text);
  return 'problem' in found ? found : stacksOfText(context, found.test);
}

/** Hex without 0x may also be a word: a hash in a file name. */
function textOf(condition: WordCondition): TextCondition | undefined {
  if (condition.kind === 'text' || condition.kind === 'regex') return condition;
  const isWord = condition.kind === 'address' && condition.orText !== undefined;
  return isWord ? { kind: 'text', text: condition.orText } : undefined;
}

function matchText(context: DeviceModel, condition: TextCondition): TermAnswer | Refusal {
  const found = textTest(condition);
  if ('problem' in found) return found;
  const { stacks, frames, note } = stacksOfText(context, found.test);
  const mask = allocationsOfStacks(context, stacks);
  addLabelled(context, mask, found.test.test);
  return { mask, frames, note };
}

function stacksOfText(context: DeviceModel, test: TextTest): StackAnswer {
  const frames = framesOfText(context.snapshot, test);
  return { frames, stacks: stacksOfFrames(context.snapshot, frames), note: noteOfFrames(context) };
}

function textTest(condition: TextCondition): { readonly test: TextTest } | Refusal {
  if (condition.kind === 'text') return { test: wordTest(condition.text) };
  const compiled = compileRegex(condition.source);
  if ('problem' in compiled) return compiled;
  return { test: { test: compiled.test, fileAndLine: undefined } };
}

const FILE_AND_LINE = /^(.+):(\d{1,9})$/s;

/** Ignores case by lowercasing both sides. */
function wordTest(text: string): TextTest {
  const word = text.toLowerCase();
  const match = FILE_AND_LINE.exec(word);
  return {
    test: (tested) => tested.toLowerCase().includes(word),
    fileAndLine: match === null ? undefined : { file: match[1], line: Number(match[2]) },
  };
}

/** By FrameIndex: 1 = its function, file, or file and line match. */
function framesOfText({ strings, frames }: Snapshot, { test, fileAndLine }: TextTest): Uint8Array {
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const isFile = onceForEach(strings.length, (row) =>
    strings
      .get(row)
      .toLowerCase()
      .endsWith(fileAndLine?.file ?? ''),
  );
  return maskOf(frames.length, (frame) => {
    if (isHit(frames.name[frame]) || isHit(frames.filename[frame])) return true;
    return fileAndLine?.line === frames.line[frame] && isFile(frames.filename[frame]);
  });
}

/** Adds to the mask the allocations whose alloc event carries a matching label. */
function addLabelled(context: DeviceModel, mask: Uint8Array, test: TextTest['test']): void {
  const { strings } = context.snapshot;
  const { category, compileContext, userMetadata } = context.trace.events;
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const { start, preexisting, length } = context.replay.allocations;
  for (const column of [category, compileContext, userMetadata]) {
    if (column === undefined) continue;
    for (let id = preexisting; id < length; id++) {
      const row = column[start[id]];
      if (row > 0 && isHit(row)) mask[id] = 1;
    }
  }
  for (const [id, name] of tensorNames(context)) if (test(name)) mask[id] = 1;
}

function matchAddress(
  context: DeviceModel,
  addresses: readonly bigint[],
  orText: string | undefined,
): TermAnswer | Refusal {
  const blocks = addressMask(context, addresses);
  const note = 'No block in this trace was at that address.';
  if (orText === undefined) return { mask: blocks, note };
  const word = matchText(context, { kind: 'text', text: orText });
  if ('problem' in word) return word;
  for (let id = 0; id < blocks.length; id++) blocks[id] |= word.mask[id];
  return { mask: blocks, frames: word.frames, note };
}

/** Blocks that contain one of the addresses, at any time. */
function addressMask({ snapshot, replay }: DeviceModel, addresses: readonly bigint[]): Uint8Array {
  const { length, address, sizeBytes } = replay.allocations;
  const keys = addresses
    .map((value) => snapshot.addresses.find(value))
    .filter((key) => key !== undefined);
  return maskOf(length, (id) => keys.some((key) => contains(address[id], sizeBytes[id], key)));
}

/**
 * Blocks in segments that contain an address, while those existed. `nth` takes only the nth segment, from 0, that began
 * exactly there. Each row of an expandable segment is a mapped piece.
 */
function segmentMask(
  { snapshot, replay }: DeviceModel,
  address: bigint,
  nth: number | undefined,
): Uint8Array {
  const { segmentSpans: spans, allocations } = replay;
  const key = snapshot.addresses.find(address);
  const rows: number[] = [];
  for (let row = 0; row < spans.length && key !== undefined; row++) {
    if (contains(spans.address[row], spans.sizeBytes[row], key)) rows.push(row);
  }
  const starting = rows
    .filter((row) => spans.address[row] === key)
    .sort((a, b) => spans.start[a] - spans.start[b]);
  const chosen = nth === undefined ? rows : starting.slice(nth, nth + 1);
  return maskOf(allocations.length, (id) =>
    chosen.some(
      (row) =>
        contains(spans.address[row], spans.sizeBytes[row], allocations.address[id]) &&
        spans.start[row] <= allocations.start[id] &&
        allocations.start[id] < spans.end[row],
    ),
  );
}

const contains = (from: AddressKey, bytes: number, key: AddressKey): boolean =>
  from <= key && key < from + bytes;
