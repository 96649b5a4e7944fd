/** Allocated memory by call site, at the peak and at the end, under keys that all ranks share. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { getOrMake, sumBy } from '../../base/collections.ts';
import { fileName } from '../../base/file-names.ts';
import { FNV_PRIME, hashText } from '../../base/hash.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { functionText } from '../../device/model/frame-text.ts';
import {
  absenceText,
  type StackReader,
  type StackSource,
  stackKind,
} from '../../device/model/stacks.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type FrameIndex,
  NO_STACK,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import type { SiteFigures } from './types.ts';

export interface SiteRow extends SiteFigures {
  readonly key: string;
  readonly line: string;
  readonly stack: StackIndex;
  readonly first: AllocationIndex;
  /** {@link MemoryClass} of its largest allocation at the peak; -1 if it has none then. */
  class: number;
}

/**
 * One row per key, the largest at the peak first. Bytes at the peak add up to the counter of allocated bytes after
 * `peak`, and bytes at the end to the counter at the end.
 */
export function siteRows(context: DeviceModel, keys: SiteKeys, peak: EventIndex): SiteRow[] {
  const { replay, stacks, snapshot } = context;
  const { stack, start, freeRequested, sizeBytes, length, preexisting } = replay.allocations;
  const { classOf } = classify(context);
  const byKey = new Map<string, SiteRow & { largestBytes: number }>();
  const siteOf = (site: StackIndex, first: AllocationIndex) =>
    getOrMake(byKey, keys.keyOf(site, first < preexisting), () => ({
      key: keys.keyOf(site, first < preexisting),
      line: keys.lineKeyOf(site, first < preexisting),
      ...{ stack: site, first, class: -1, largestBytes: -1, ...NO_FIGURES },
    }));
  // By stack: several stacks may share a key.
  const sites: ReturnType<typeof siteOf>[] = new Array(snapshot.stacks.length - NO_STACK);
  for (let id = 0; id < length; id++) {
    const site = stacks.siteOf(stack[id]);
    sites[site - NO_STACK] ??= siteOf(site, id);
    const row = sites[site - NO_STACK];
    row.allocations++;
    if (freeRequested[id] === NEVER) row.endBytes += sizeBytes[id];
    if (start[id] > peak || freeRequested[id] <= peak) continue;
    row.peakCount++;
    row.peakBytes += sizeBytes[id];
    if (sizeBytes[id] <= row.largestBytes) continue;
    row.largestBytes = sizeBytes[id];
    row.class = classOf[id];
  }
  return [...byKey.values()].sort(
    (a, b) =>
      b.peakBytes - a.peakBytes ||
      b.endBytes - a.endBytes ||
      b.allocations - a.allocations ||
      a.first - b.first,
  );
}

const NO_FIGURES: SiteFigures = { allocations: 0, peakCount: 0, peakBytes: 0, endBytes: 0 };

/** The class ID of most of a site's memory at the peak; null if it has none then. */
export const classId = ({ class: own }: SiteRow): string | null =>
  own < 0 ? null : MEMORY_CLASSES[own].id;

export const sumOf = (...sites: readonly SiteFigures[]): SiteFigures => ({
  allocations: sumBy(sites, ({ allocations }) => allocations),
  peakCount: sumBy(sites, ({ peakCount }) => peakCount),
  peakBytes: sumBy(sites, ({ peakBytes }) => peakBytes),
  endBytes: sumBy(sites, ({ endBytes }) => endBytes),
});

const SEED_HIGH = 0x1b873593;

const NO_LINES: ReadonlySet<string> = new Set(['cpp', 'runtime']);

type Hash = readonly [low: number, high: number];

/**
 * Keys for call sites that are the same on every rank, unlike stack row numbers.
 *
 * A key is a hash of the Python frames from the outermost in: function, file name, line. Folders are ignored because
 * they differ by rank (/mnt/node3/train.py, /home/x/job/train.py), and C++ frames because they differ by allocation.
 * For generated code only function and line count: TorchInductor writes the device's number into it, and names the file
 * by its content. A stack of C++ alone uses its display name ('AddmmBackward0 (backward pass)').
 */
export class SiteKeys {
  readonly #source: StackSource;
  readonly #stacks: StackReader;
  /** For Python frames; undefined for others. */
  readonly #frames: readonly (Hash | undefined)[];
  /** By stack row: the two halves of the hash of its Python frames; 0 for none. */
  readonly #low: Int32Array;
  readonly #high: Int32Array;

  constructor(source: StackSource, stacks: StackReader) {
    this.#source = source;
    this.#stacks = stacks;
    const { length, frame, parent } = source.stacks;
    this.#low = new Int32Array(length);
    this.#high = new Int32Array(length);
    this.#frames = this.#frameHashes();
    // A caller's row precedes its callees', so one pass hashes each stack from its caller's hash.
    for (let row = 1; row < length; row++) {
      const above = parent[row];
      const own = this.#frames[frame[row]];
      this.#low[row] = own === undefined ? this.#low[above] : mix(this.#low[above], own[0]);
      this.#high[row] = own === undefined ? this.#high[above] : mix(this.#high[above], own[1]);
    }
  }

  /** `isFromBefore`: the allocation predates the recording. */
  keyOf(stack: StackIndex, isFromBefore = false): string {
    if (stack > EMPTY_STACK && this.#low[stack] !== 0) {
      return keyText([this.#low[stack], this.#high[stack]]);
    }
    return this.#labelKey(stack, isFromBefore);
  }

  /** Key of the innermost line outside PyTorch, or in PyTorch if there is no other. */
  lineKeyOf(stack: StackIndex, isFromBefore = false): string {
    const kindOf = (frame: FrameIndex) => this.#stacks.frame(frame).kind;
    const frames = [...this.#stacks.frames(stack)].filter((frame) => !NO_LINES.has(kindOf(frame)));
    const innermost = frames.find((frame) => kindOf(frame) !== 'pytorch') ?? frames[0];
    const hash = innermost === undefined ? undefined : this.#frames[innermost];
    return hash === undefined ? this.#labelKey(stack, isFromBefore) : keyText(hash);
  }

  #labelKey(stack: StackIndex, isFromBefore: boolean): string {
    if (stack <= EMPTY_STACK) return stackKind(stack, isFromBefore);
    const label = this.labelOf(stack, isFromBefore);
    return keyText([hashText(label), hashText(label, SEED_HIGH)]);
  }

  /** The name of a site without a line of Python. */
  labelOf(stack: StackIndex, isFromBefore = false): string {
    const frame = this.#stacks.topUserFrameView(stack);
    return frame === undefined ? absenceText(stackKind(stack, isFromBefore)) : functionText(frame);
  }

  #frameHashes(): (Hash | undefined)[] {
    const { length } = this.#source.frames;
    return Array.from({ length }, (_, frame) => {
      const { kind, name, filename, line } = this.#stacks.frame(frame);
      if (kind === 'cpp') return undefined;
      const text = `${name}\n${kind === 'runtime' ? '' : fileName(filename)}:${line}`;
      return [hashText(text), hashText(text, SEED_HIGH)] as const;
    });
  }
}

const keyText = ([low, high]: Hash): string =>
  ((low >>> 0) * 2 ** 20 + ((high >>> 0) & 0xfffff)).toString(36).padStart(10, '0');

/** Never 0, which means no frames. */
function mix(above: number, own: number): number {
  let hash = Math.imul(above ^ Math.imul(own, 0x85ebca6b), FNV_PRIME);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 13;
  return hash === 0 ? 1 : hash;
}
