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
  allocationLabeled,
  allocationsOfStacks,
  type Matcher,
  maskOf,
  matching,
  onceForEach,
  stacksOfFrames,
} from './qualifier.ts';
import { compileRegex } from './regex.ts';
import type { SearchProblem } from './types.ts';

/** RE2 syntax, any case. A pattern that cannot be compiled gives a problem, whose `at` counts from its start. */
export function regexMatcher(source: string): Matcher | { readonly problem: SearchProblem } {
  const compiled = compileRegex(source);
  return 'problem' in compiled ? compiled : textMatcher(compiled.test);
}

const FILE_AND_LINE = /^(.+):(\d{1,9})$/s;

/** A text in a frame's function or file ("train.py:12": that line too) or in a label; any case. */
export function quotedMatcher(text: string): Matcher {
  const word = text.toLowerCase();
  const [, file = '', line] = FILE_AND_LINE.exec(word) ?? [];
  const test = (tested: string) => tested.toLowerCase().includes(word);
  return textMatcher(test, line === undefined ? undefined : { file, line: Number(line) });
}

const BLOCK = /^b([0-9a-f]{6,16})(_\d{1,9})?$/i;
const SEGMENT = /^s([0-9a-f]{6,16})(?:_(\d{1,9}))?$/i;
const PREFIXED_HEX = /^0x([0-9a-f]{1,16})$/i;
/** At least eight hex digits, one of them decimal: an address rather than a word such as "deadbeef" or "cafe". */
const BARE_HEX = /^(?=.*\d)[0-9a-f]{8,16}$/i;
const hex = (digits: string): bigint => BigInt(`0x${digits}`);

/** A text, or an address in one of its spellings. Hex without 0x may be both: a hash in a file name. */
export function wordMatcher(word: string): Matcher {
  const block = BLOCK.exec(word);
  if (block?.[2] !== undefined) return blockMatcher(word.toLowerCase());
  const [, segment = '', nth] = SEGMENT.exec(word) ?? [];
  if (segment !== '' && (nth !== undefined || BARE_HEX.test(segment))) {
    return segmentMatcher(hex(segment), nth === undefined ? undefined : Number(nth));
  }
  const prefixed = PREFIXED_HEX.exec(word);
  if (prefixed !== null) return addressMatcher([hex(prefixed[1])]);
  // b is also a hex digit: b7f064c000000 may be a block's name without its number.
  const spelled = [word, block?.[1] ?? ''].filter((digits) => BARE_HEX.test(digits));
  const text = quotedMatcher(word);
  if (spelled.length === 0) return text;
  const { allocations: blocks } = addressMatcher(spelled.map(hex));
  return {
    ...text,
    allocations(device, at) {
      const found = blocks?.(device, at);
      const named = text.allocations?.(device, at);
      return {
        ...named,
        mask: maskOf(device.replay.allocations.length, (id) => {
          return found?.mask[id] === 1 || named?.mask[id] === 1;
        }),
        note: found?.note,
      };
    },
  };
}

/** b7f064c000000_0: exactly that allocation. */
const blockMatcher = (label: string): Matcher => ({
  allocations(device) {
    const { allocation, note } = allocationLabeled(device, label);
    return { mask: maskOf(device.replay.allocations.length, (id) => id === allocation), note };
  },
});

/** Blocks that contain one of the addresses, at any time. */
const addressMatcher = (addresses: readonly bigint[]): Matcher =>
  matching(
    ({ snapshot, replay: { allocations } }) => {
      const { address, sizeBytes } = allocations;
      const found = addresses.map((value) => snapshot.addresses.find(value));
      const keys = found.filter((key) => key !== undefined);
      return (id) => keys.some((key) => contains(address[id], sizeBytes[id], key));
    },
    () => 'No block in this trace was at that address.',
  );

/**
 * s7f064c000000_1: blocks in the second segment that began exactly there, while it existed; without a number, in all
 * segments that contain the address. Each row of an expandable segment is a mapped piece.
 */
const segmentMatcher = (address: bigint, nth: number | undefined): Matcher =>
  matching(
    ({ snapshot, replay: { segmentSpans: spans, allocations } }) => {
      const key = snapshot.addresses.find(address);
      const rows: number[] = [];
      for (let row = 0; row < spans.length && key !== undefined; row++) {
        if (contains(spans.address[row], spans.sizeBytes[row], key)) rows.push(row);
      }
      const starting = rows
        .filter((row) => spans.address[row] === key)
        .sort((a, b) => spans.start[a] - spans.start[b]);
      const chosen = nth === undefined ? rows : starting.slice(nth, nth + 1);
      return (id) =>
        chosen.some(
          (row) =>
            contains(spans.address[row], spans.sizeBytes[row], allocations.address[id]) &&
            spans.start[row] <= allocations.start[id] &&
            allocations.start[id] < spans.end[row],
        );
    },
    () => 'No segment with allocations in this trace was at that address.',
  );

const contains = (from: AddressKey, bytes: number, key: AddressKey): boolean =>
  from <= key && key < from + bytes;

type TextTest = (text: string) => boolean;

/** "train.py:12" needs file and line together. */
interface FileAndLine {
  readonly file: string;
  readonly line: number;
}

function textMatcher(test: TextTest, fileAndLine?: FileAndLine): Matcher {
  const stacks = (device: DeviceModel) =>
    stacksOfFrames(device, framesOfText(device.snapshot, test, fileAndLine));
  return {
    stacks,
    allocations(device) {
      const found = stacks(device);
      const mask = allocationsOfStacks(device, found.mask);
      addLabeled(device, mask, test);
      return { ...found, mask };
    },
  };
}

/** By FrameIndex: 1 = its function, file, or file and line match. */
function framesOfText(
  { strings, frames }: Snapshot,
  test: TextTest,
  { file, line }: Partial<FileAndLine> = {},
): Uint8Array {
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const isFile = onceForEach(strings.length, (row) =>
    strings
      .get(row)
      .toLowerCase()
      .endsWith(file ?? ''),
  );
  return maskOf(frames.length, (frame) => {
    if (isHit(frames.name[frame]) || isHit(frames.filename[frame])) return true;
    return line === frames.line[frame] && isFile(frames.filename[frame]);
  });
}

/** Adds to the mask the allocations whose alloc event carries a matching label. */
function addLabeled(device: DeviceModel, mask: Uint8Array, test: TextTest): void {
  const { strings } = device.snapshot;
  const { category, compileContext, userMetadata } = device.trace.events;
  const isHit = onceForEach(strings.length, (row) => test(strings.get(row)));
  const { start, preexisting, length } = device.replay.allocations;
  for (const column of [category, compileContext, userMetadata]) {
    if (column === undefined) continue;
    for (let id = preexisting; id < length; id++) {
      const row = column[start[id]];
      if (row > 0 && isHit(row)) mask[id] = 1;
    }
  }
  for (const [id, name] of tensorNames(device)) if (test(name)) mask[id] = 1;
}
