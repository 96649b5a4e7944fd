/**
 * Color classes of the allocations: one byte each, an index into the palette. A class depends only on what the
 * allocation is (its stack's text, its size) and on the number of classes, never on row numbers, so it stays the same
 * across zooms, runs and files.
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

/** By stack: allocated before recording began, so the stack is unknown. */
export const CLASS_BEFORE_RECORDING = 0;
/** By stack: allocated in the trace, but the recording kept no context. */
export const CLASS_NO_CONTEXT = 1;
/** By stack: context was recorded, but the thread had no Python stack. */
export const CLASS_NO_PYTHON_STACK = 2;
/** By size: the smallest class starts at 512 bytes, 2^9; the scale ends at 64 GiB, 2^36. */
const SMALLEST_LOG2 = 9;
const LARGEST_LOG2 = 36;
const HASH_SEED = 0x811c9dc5;
const HASH_PRIME = 0x01000193;

/**
 * By call site of each stack: a hash of its frames' names, files and lines, callers included. If a site has Python
 * frames, only those count, so equal code keeps its color whether or not C++ was recorded and whichever path through
 * the dispatcher it took. In C++-only stacks plumbing is ignored, unless there is nothing else. If two sites collide,
 * the one with fewer bytes takes the next free class, so with enough classes each site has its own.
 * @throws RangeError unless classCount is 4 to 253
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

/** What stack classes depend on, besides bytes. */
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

/** Adds block bytes from row `from` on to their stacks' totals; NaN marks a stack without allocations. */
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

/** Class of each allocation, from its stack. */
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
 * By block size, evenly in powers of two from 512 B to 64 GiB; larger blocks are in the last class. Example with 9
 * classes of 3 powers each: below 4 KiB is 0, up to 32 KiB is 1, from 8 GiB on is 8.
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
 * Class of each site, by its stack, out of `count` classes. Heaviest first, so that only small sites share one. Equal
 * code has one class, even in several rows.
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
  // Three hashes per stack: of all frames, of those that are not plumbing, and of Python frames.
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

/** Spreads a hash over all 32 bits (murmur3's finalizer), so that `% n` uses them all. */
function avalanche(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Allocations in no group. */
export const CLASS_NONE = 0;
/** Groups too light for a class of their own. */
export const CLASS_REST = 1;
/** The heaviest group has this class, the second heaviest the next one, and so on. */
export const FIRST_GROUP_CLASS = 2;

export interface GroupClasses {
  /** Class of each allocation. */
  readonly classOf: Uint8Array;
  /** Groups with a class of their own, in order from FIRST_GROUP_CLASS on. */
  readonly named: readonly number[];
  /** How many groups share CLASS_REST. */
  readonly others: number;
}

/**
 * By named groups (streams, pools, phases, sites): each of the heaviest has its own class, so no two important groups
 * share a color; the rest share one. Weight is the bytes live at `peakEvent`; ties go by bytes over all lifetimes, then
 * by group number.
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
