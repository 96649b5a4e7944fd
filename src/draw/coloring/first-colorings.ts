/**
 * The colorings in which a file is first drawn, by stack and by size; the others load on demand (colorings.ts).
 *
 * A class is one byte, an index into the palette. It depends only on what the allocation is (its stack's text, its
 * size) and on the number of classes, never on row numbers, so it stays the same across zooms, runs and files.
 */

import type { AllocationTable } from '../../allocator/replay/types.ts';
import { addUp } from '../../base/collections.ts';
import { formatBytes } from '../../base/format.ts';
import { FNV_PRIME, FNV_SEED, hashText, spread } from '../../base/hash.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { absenceText, StackReader, type StackSource } from '../../device/model/stacks.ts';
import type { StackKind } from '../../device/model/types.ts';
import { sizeTerms } from '../../device/search/qualifier.ts';
import { EMPTY_STACK, NO_STACK } from '../../format/snapshot/tables.ts';
import { MAX_CLASSES } from '../timeline/colors.ts';
import { FIRST_STACK_CLASS } from './site-colors.ts';

export interface ColorLabel {
  readonly label: string;
  /** One more sentence; '' if the label says everything. */
  readonly about: string;
  /** A search for these allocations; undefined if there is none. */
  readonly term: string | undefined;
}

export interface ColorClass extends ColorLabel {
  readonly class: number;
}

export interface Coloring {
  /** Class of each allocation. */
  readonly classOf: Uint8Array;
  /** In legend order. By stack, only the classes without a stack, because the others are hashes. */
  readonly classes: readonly ColorClass[];
}

/** @param classCount as for `makeColoring` */
export function firstColoring(
  context: DeviceModel,
  colorBy: 'stack' | 'size',
  classCount: number,
): Coloring {
  return colorBy === 'stack' ? byStack(context, classCount) : bySize(context, classCount);
}

function byStack({ snapshot, replay, stacks }: DeviceModel, classCount: number): Coloring {
  const classOf = classesByStack(replay.allocations, snapshot, classCount, stacks);
  const absence = (classNumber: number, kind: StackKind): ColorClass => {
    return { class: classNumber, label: absenceText(kind), about: '', term: undefined };
  };
  const classes = [
    absence(CLASS_NO_PYTHON_STACK, 'no-python-stack'),
    absence(CLASS_NO_CONTEXT, 'no-context'),
    absence(CLASS_BEFORE_RECORDING, 'before-recording'),
  ];
  return { classOf, classes };
}

function bySize({ replay }: DeviceModel, classCount: number): Coloring {
  const classes = Array.from({ length: classCount }, (_, at): ColorClass => {
    const [from, to] = [sizeEdge(at, classCount), sizeEdge(at + 1, classCount)];
    const label = at === 0 ? `below ${edgeText(to)}` : `from ${edgeText(from)}`;
    return { class: at, label, about: '', term: sizeTerms(from, to) };
  });
  return { classOf: classesBySize(replay.allocations, classCount), classes };
}

/** '4 KiB': edges are whole powers of two. */
const edgeText = (bytes: number): string => formatBytes(bytes).replace('.00', '');

/** By stack: allocated before recording began, so the stack is unknown. */
export const CLASS_BEFORE_RECORDING = 0;
/** By stack: allocated in the trace, but the recording kept no context. */
export const CLASS_NO_CONTEXT = 1;
/** By stack: context was recorded, but the thread had no Python stack. */
export const CLASS_NO_PYTHON_STACK = 2;
/** By stack: this share of the classes is for the sites with the fewest bytes, which share them if there are too many. */
const SHARED_CLASSES = 0.1;
/** By size: the smallest class starts at 512 bytes, 2^9; the scale ends at 64 GiB, 2^36. */
const SMALLEST_LOG2 = 9;
const LARGEST_LOG2 = 36;

/**
 * By call site of each stack: a hash of its frames' names, files and lines, callers included. If a site has Python
 * frames, only those count, so equal code keeps its color whether or not C++ was recorded and whichever path through
 * the dispatcher it took. In C++-only stacks plumbing is ignored, unless there is nothing else. If two sites collide,
 * the one with fewer bytes takes the next free class, so with enough classes each site has its own; without, the
 * lightest share some.
 * @throws RangeError unless classCount is 4 to 253
 */
export function classesByStack(
  allocations: AllocationTable,
  snapshot: StackSource,
  classCount: number,
  reader: StackReader = new StackReader(snapshot),
): Uint8Array {
  const colors = new StackColors();
  return colors.classesOf(allocations, sitesOfStacks(snapshot, reader), classCount);
}

/** What stack classes depend on, besides bytes. */
export interface StackSites {
  /** Call site of each stack: a stack, or NO_STACK. */
  readonly siteOf: Int32Array;
  /** Of each stack; equal code has equal hashes. */
  readonly hashes: Uint32Array;
}

export function sitesOfStacks(snapshot: StackSource, reader: StackReader): StackSites {
  const siteOf = new Int32Array(snapshot.stacks.length);
  for (let stack = 0; stack < siteOf.length; stack++) siteOf[stack] = reader.siteOf(stack);
  return { siteOf, hashes: hashesOfStacks(snapshot, reader) };
}

/** {@link classesByStack} of a table that still grows: rows are added up once. */
export class StackColors {
  /** Bytes of all allocations of each stack, up to the next row; NaN for a stack without any. */
  #bytesOf = new Float64Array(0);
  #nextRow = 0;

  /** Stacks newer than the sites get the first class. */
  classesOf(
    { stack, sizeBytes, length, preexisting }: AllocationTable,
    { siteOf, hashes }: StackSites,
    classCount: number,
  ): Uint8Array {
    checkClassCount(classCount, FIRST_STACK_CLASS + 1);
    let stacks = siteOf.length;
    for (let id = this.#nextRow; id < length; id++) stacks = Math.max(stacks, stack[id] + 1);
    if (this.#bytesOf.length < stacks) {
      const larger = new Float64Array(stacks).fill(Number.NaN);
      larger.set(this.#bytesOf);
      this.#bytesOf = larger;
    }
    const bytesOf = this.#bytesOf;
    for (let id = this.#nextRow; id < length; id++) {
      if (stack[id] >= 0) bytesOf[stack[id]] = (bytesOf[stack[id]] || 0) + sizeBytes[id];
    }
    this.#nextRow = length;
    const siteClasses = classesOfSites(siteOf, bytesOf, hashes, classCount - FIRST_STACK_CLASS);
    const classOfStack = Uint8Array.from(siteOf, (site) => {
      if (site === EMPTY_STACK) return CLASS_NO_PYTHON_STACK;
      return site === NO_STACK ? CLASS_NO_CONTEXT : siteClasses[site];
    });
    const classes = new Uint8Array(length);
    for (let id = 0; id < length; id++) {
      if (id < preexisting && stack[id] <= EMPTY_STACK) classes[id] = CLASS_BEFORE_RECORDING;
      else classes[id] = stack[id] >= 0 ? classOfStack[stack[id]] : CLASS_NO_CONTEXT;
    }
    return classes;
  }
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
 * Class of each site, by its stack, out of `count` classes. Heaviest first: these never share theirs, not even with a
 * small site, because the legend names them. Equal code has one class, even in several rows.
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
    addUp(bytesOf, hashes[site], bytesOfStack[stack]);
  }
  const classOfHash = new Map<number, number>();
  const isTaken = new Uint8Array(count);
  const alone = Math.ceil(count * (1 - SHARED_CLASSES));
  const heaviest = [...bytesOf].sort(([a, bytesA], [b, bytesB]) => bytesB - bytesA || a - b);
  for (const [hash] of heaviest) {
    const [from, to] = classOfHash.size < alone ? [0, alone] : [alone, count];
    let at = from + (hash % (to - from));
    if (classOfHash.size < to) while (isTaken[at] === 1) at = at + 1 < to ? at + 1 : from;
    isTaken[at] = 1;
    classOfHash.set(hash, FIRST_STACK_CLASS + at);
  }
  return Uint8Array.from(hashes, (hash) => classOfHash.get(hash) ?? 0);
}

/** Parents come before children, so one pass hashes each stack from its caller's hash. */
function hashesOfStacks(
  { strings, frames, stacks }: StackSource,
  reader: StackReader,
): Uint32Array {
  const frameHash = new Int32Array(frames.length);
  const frameRank = new Uint8Array(frames.length);
  for (let frame = 0; frame < frames.length; frame++) {
    const withName = hashText(strings.get(frames.name[frame]));
    // Times the prime after each text, so that 'ab', 'c' and 'a', 'bc' differ.
    const separated = Math.imul(withName, FNV_PRIME);
    const withFile = Math.imul(hashText(strings.get(frames.filename[frame]), separated), FNV_PRIME);
    frameHash[frame] = hashNumber(withFile, frames.line[frame]);
    frameRank[frame] = reader.isPython(frame) ? 2 : reader.frame(frame).isPlumbing ? 0 : 1;
  }
  // Three hashes per stack: of all frames, of those that are not plumbing, and of Python frames.
  const hashes = [0, 1, 2].map(() => new Int32Array(stacks.length).fill(FNV_SEED));
  const hashOf = new Uint32Array(stacks.length);
  for (let stack = 1; stack < stacks.length; stack++) {
    const frame = stacks.frame[stack];
    const parent = stacks.parent[stack];
    let best = FNV_SEED;
    hashes.forEach((hash, rank) => {
      const above = hash[parent];
      hash[stack] = frameRank[frame] >= rank ? hashNumber(above, frameHash[frame]) : above;
      if (hash[stack] !== hash[EMPTY_STACK]) best = hash[stack];
    });
    hashOf[stack] = spread(best);
  }
  return hashOf;
}

function checkClassCount(classCount: number, least: number): void {
  if (!Number.isInteger(classCount) || classCount < least || classCount > MAX_CLASSES) {
    throw new RangeError(`Classes must be ${least} to ${MAX_CLASSES}, not ${classCount}`);
  }
}

const hashNumber = (seed: number, value: number): number =>
  spread(Math.imul(seed, FNV_PRIME) ^ value);
