/**
 * Color classes of the allocations: one byte each, the palette's row.
 *
 * A class depends on what the allocation is (its stack's text, its size) and on the number of
 * classes, never on row numbers: it stays the same across zooms, runs and files.
 */

import type { AllocationIndex, AllocationTable } from '../../allocator/replay/types.ts';
import { StackReader } from '../../device/model/stacks.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  NO_STACK,
  type Snapshot,
} from '../../format/snapshot/tables.ts';
import { MAX_CLASSES } from '../timeline/colors.ts';
import { FIRST_STACK_CLASS } from './site-colors.ts';

/** Class by stack: allocated before recording began, and its stack is not known. */
export const CLASS_BEFORE_RECORDING = 0;
/** Class by stack: allocated in the trace, but the recording kept no context. */
export const CLASS_NO_CONTEXT = 1;
/** Class by stack: context was recorded, the thread had no Python stack. */
export const CLASS_NO_PYTHON_STACK = 2;
/** By size: 512 bytes are 2^9, the last class begins where 64 GiB, 2^36, would be the end. */
const SMALLEST_LOG2 = 9;
const LARGEST_LOG2 = 36;
const HASH_SEED = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/**
 * By the call site of each stack: a hash of the names, files and lines of its frames, callers included. Only
 * frames of Python count where a site has some: equal code keeps its color whether or not C++ frames were
 * recorded, and whichever way through the dispatcher a line took. Of C++ alone plumbing does not count, unless
 * a stack has nothing else. Where two sites have the same hash, the one with fewer bytes takes the next free
 * class: as long as there are enough, each site has one of its own.
 * Throws RangeError unless classCount is 4 to 253.
 */
export function classesByStack(
  allocations: AllocationTable,
  snapshot: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>,
  classCount: number,
  reader: StackReader = new StackReader(snapshot),
): Uint8Array {
  const sites = sitesOfStacks(snapshot, reader);
  const bytesOf = new Float64Array(snapshot.stacks.length).fill(Number.NaN);
  addBytesOfStacks(bytesOf, allocations, 0);
  return classesBySites(allocations, classesOfStacks(sites, bytesOf, classCount));
}

/** What the classes of stacks follow from, besides their bytes. */
export interface StackSites {
  /** Call site of each stack: a stack, or NO_STACK. */
  readonly siteOf: Int32Array;
  /** Of each stack; equal code has equal hashes. */
  readonly hashes: Uint32Array;
}

export function sitesOfStacks(
  snapshot: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>,
  reader: StackReader,
): StackSites {
  const siteOf = new Int32Array(snapshot.stacks.length);
  for (let stack = 0; stack < siteOf.length; stack++) siteOf[stack] = reader.siteOf(stack);
  return { siteOf, hashes: hashesOfStacks(snapshot, reader) };
}

/** Adds the block bytes of the allocations from row `from` on to those of their stacks: NaN is a stack without any. */
export function addBytesOfStacks(
  bytesOf: Float64Array,
  { stack, sizeBytes, length }: Pick<AllocationTable, 'stack' | 'sizeBytes' | 'length'>,
  from: AllocationIndex,
): void {
  for (let id = from; id < length; id++) {
    if (stack[id] >= 0) bytesOf[stack[id]] = (bytesOf[stack[id]] || 0) + sizeBytes[id];
  }
}

/** Class of each stack, see {@link classesByStack}. */
export function classesOfStacks(
  { siteOf, hashes }: StackSites,
  bytesOf: Float64Array,
  classCount: number,
): Uint8Array {
  checkClassCount(classCount, FIRST_STACK_CLASS + 1);
  const count = classCount - FIRST_STACK_CLASS;
  const siteClasses = classesOfSites(siteOf, bytesOf, hashes, count);
  return Uint8Array.from(siteOf, (site) => {
    if (site === EMPTY_STACK) return CLASS_NO_PYTHON_STACK;
    return site === NO_STACK ? CLASS_NO_CONTEXT : siteClasses[site];
  });
}

/** Class of each allocation, by that of its stack. */
export function classesBySites(
  { stack, length, preexisting }: Pick<AllocationTable, 'stack' | 'length' | 'preexisting'>,
  classOfStack: Uint8Array,
): Uint8Array {
  const classes = new Uint8Array(length);
  for (let id = 0; id < length; id++) {
    if (stack[id] >= 0) classes[id] = classOfStack[stack[id]];
    else classes[id] = id < preexisting ? CLASS_BEFORE_RECORDING : CLASS_NO_CONTEXT;
  }
  return classes;
}

/**
 * By block size, evenly in powers of two from 512 B to 64 GiB; larger is in the last class.
 * Example with 9 classes, 3 powers each: below 4 KiB is 0, up to 32 KiB is 1, from 8 GiB on 8.
 */
export function classesBySize(allocations: AllocationTable, classCount: number): Uint8Array {
  checkClassCount(classCount, 1);
  const perPower = classCount / (LARGEST_LOG2 - SMALLEST_LOG2);
  const classes = new Uint8Array(allocations.length);
  for (let id = 0; id < classes.length; id++) {
    const power = Math.log2(Math.max(1, allocations.sizeBytes[id])) - SMALLEST_LOG2;
    classes[id] = Math.min(classCount - 1, Math.max(0, Math.floor(power * perPower)));
  }
  return classes;
}

/** Lower edge of a class by size, in bytes; 0 for the first, Infinity past the last. */
export function sizeEdge(sizeClass: number, classCount: number): number {
  if (sizeClass <= 0) return 0;
  if (sizeClass >= classCount) return Infinity;
  return 2 ** (SMALLEST_LOG2 + (sizeClass * (LARGEST_LOG2 - SMALLEST_LOG2)) / classCount);
}

/**
 * Class of each site, by its stack; of `count` classes. Heaviest first, so that what has to share is small. Sites
 * of the same code have one class, also where they are several rows.
 */
function classesOfSites(
  siteOf: Int32Array,
  bytesOfStack: Float64Array,
  hashes: Uint32Array,
  count: number,
): Uint8Array {
  const bytesOf = new Map<number, number>();
  for (let stack = 0; stack < siteOf.length; stack++) {
    const site = siteOf[stack];
    if (site <= EMPTY_STACK || Number.isNaN(bytesOfStack[stack])) continue;
    const hash = hashes[site];
    bytesOf.set(hash, (bytesOf.get(hash) ?? 0) + bytesOfStack[stack]);
  }
  const classOfHash = new Map<number, number>();
  const isTaken = new Uint8Array(count);
  const heaviest = [...bytesOf].sort(([a, bytesA], [b, bytesB]) => bytesB - bytesA || a - b);
  for (const [hash] of heaviest) {
    let at = hash % count;
    if (classOfHash.size < count) while (isTaken[at] === 1) at = (at + 1) % count;
    isTaken[at] = 1;
    classOfHash.set(hash, FIRST_STACK_CLASS + at);
  }
  return Uint8Array.from(hashes, (hash) => classOfHash.get(hash) ?? 0);
}

/** Parents come before children, so one pass hashes each stack from its caller's hash. */
function hashesOfStacks(
  { strings, frames, stacks }: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>,
  reader: StackReader,
): Uint32Array {
  const frameHash = new Int32Array(frames.length);
  const frameRank = new Uint8Array(frames.length);
  for (let frame = 0; frame < frames.length; frame++) {
    const withName = hashText(HASH_SEED, strings.get(frames.name[frame]));
    const withFile = hashText(withName, strings.get(frames.filename[frame]));
    frameHash[frame] = hashNumber(withFile, frames.line[frame]);
    frameRank[frame] = reader.isPython(frame) ? 2 : reader.frame(frame).isPlumbing ? 0 : 1;
  }
  // Hashes of a stack's frames of each rank and above: all, those that are no plumbing, those of Python.
  const hashes = [0, 1, 2].map(() => new Int32Array(stacks.length).fill(HASH_SEED));
  const hashOf = new Uint32Array(stacks.length);
  for (let stack = 1; stack < stacks.length; stack++) {
    const frame = stacks.frame[stack];
    const parent = stacks.parent[stack];
    let best = HASH_SEED;
    hashes.forEach((hash, rank) => {
      const above = hash[parent];
      hash[stack] = frameRank[frame] >= rank ? hashNumber(above, frameHash[frame]) : above;
      if (hash[stack] !== hash[EMPTY_STACK]) best = hash[stack];
    });
    hashOf[stack] = avalanche(best);
  }
  return hashOf;
}

function checkClassCount(classCount: number, least: number): void {
  if (!Number.isInteger(classCount) || classCount < least || classCount > MAX_CLASSES) {
    throw new RangeError(`Classes must be ${least} to ${MAX_CLASSES}, not ${classCount}`);
  }
}

/** FNV-1a over UTF-16 units, ended by a 0 so that 'ab', 'c' and 'a', 'bc' differ. */
function hashText(seed: number, text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), HASH_PRIME);
  }
  return Math.imul(hash, HASH_PRIME);
}

function hashNumber(seed: number, value: number): number {
  return avalanche(Math.imul(seed, HASH_PRIME) ^ value) | 0;
}

/** Spreads a hash over all 32 bits (murmur3's finaliser), so that `% n` uses them all. */
function avalanche(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Class of what is in no group. */
export const CLASS_NONE = 0;
/** Class of groups that are too light for one of their own. */
export const CLASS_REST = 1;
/** The heaviest group has this class, the next the next. */
export const FIRST_GROUP_CLASS = 2;

export interface GroupClasses {
  /** Class of each allocation. */
  readonly classOf: Uint8Array;
  /** Groups that have a class of their own, by class from FIRST_GROUP_CLASS on. */
  readonly named: readonly number[];
  /** How many groups share CLASS_REST. */
  readonly others: number;
}

/**
 * By groups that can be named (streams, pools, phases, sites): the heaviest have a class each, so
 * that no two of those that matter share a color; the rest shares one.
 *
 * Weight is the bytes that stand at `peakEvent`, then those of all lifetimes, then the group's number.
 * @param groupOf group of each allocation, 0 to groupCount - 1; -1 for none
 */
export function classesByGroup(
  allocations: AllocationTable,
  groupOf: Int32Array,
  groupCount: number,
  peakEvent: EventIndex,
  classCount: number,
): GroupClasses {
  const { length, start, end, sizeBytes } = allocations;
  const peakBytes = new Float64Array(groupCount);
  const totalBytes = new Float64Array(groupCount);
  for (let id = 0; id < length; id++) {
    const group = groupOf[id];
    if (group < 0) continue;
    totalBytes[group] += sizeBytes[id];
    if (start[id] <= peakEvent && end[id] > peakEvent) peakBytes[group] += sizeBytes[id];
  }
  const used = [...totalBytes.keys()].filter((group) => totalBytes[group] > 0);
  used.sort((a, b) => peakBytes[b] - peakBytes[a] || totalBytes[b] - totalBytes[a] || a - b);
  const named = used.slice(0, classCount - FIRST_GROUP_CLASS);
  const classOfGroup = new Uint8Array(groupCount).fill(CLASS_REST);
  named.forEach((group, i) => {
    classOfGroup[group] = FIRST_GROUP_CLASS + i;
  });
  const classOf = new Uint8Array(length);
  for (let id = 0; id < length; id++)
    classOf[id] = groupOf[id] < 0 ? CLASS_NONE : classOfGroup[groupOf[id]];
  return { classOf, named, others: used.length - named.length };
}
