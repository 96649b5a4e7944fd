/** Assigns frames to boxes and names the boxes. */

import { getOrMake, memoized } from '../../base/collections.ts';
import { hashText } from '../../base/hash.ts';
import type { FrameIndex } from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES, type MemoryClass } from '../classes/types.ts';
import { FrameKinds, qualifiedName } from '../model/frame-kinds.ts';
import { framePath, functionText } from '../model/frame-text.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';
import type { FrameView } from '../model/types.ts';
import { frameTerm, frameText, quoteText } from '../search/qualifier.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export type GroupIndex = number;

/** Boxes without a frame come first; indices match {@link FrameGroups.describe}. */
export const NO_FRAME_GROUPS: readonly NoFrame[] = [
  'before-recording',
  'no-context',
  'no-python-stack',
  'none-shown',
];

/** The boxes of a grouping. */
export interface FlameGroups {
  readonly length: number;
  readonly describe: (group: GroupIndex) => FlameGroup;
  /** Short and stable for the same box in every snapshot, because URLs contain it. */
  readonly keyOf: (group: GroupIndex) => string;
}

export class FrameGroups implements FlameGroups {
  readonly length: number;
  /** Frame → group; -1 without a box. */
  readonly #groupOf: Int32Array;
  /** One frame of each group; -1 for groups without frames. */
  readonly #frameOf: readonly FrameIndex[];
  readonly describe = memoized((group: GroupIndex): FlameGroup => this.#describe(group));
  readonly keyOf = memoized((group: GroupIndex): string => this.#keyOf(this.describe(group)));
  readonly #grouping: FlameGrouping;
  readonly #stacks: StackReader;

  constructor(
    { frames, strings }: StackSource,
    stacks: StackReader,
    grouping: FlameGrouping,
    shown: FlameFrames,
  ) {
    this.#grouping = grouping;
    this.#stacks = stacks;
    this.#groupOf = new Int32Array(frames.length).fill(-1);
    const kinds = new FrameKinds(strings, frames);
    const frameOf: FrameIndex[] = NO_FRAME_GROUPS.map(() => -1);
    const known = new Map<string, GroupIndex>();
    for (let frame = 0; frame < frames.length; frame++) {
      if (!isShown(kinds.of(frame), shown)) continue;
      const identity = this.#identity(stacks.frame(frame));
      this.#groupOf[frame] = getOrMake(known, identity, () => frameOf.push(frame) - 1);
    }
    this.#frameOf = frameOf;
    this.length = frameOf.length + (grouping === 'class' ? MEMORY_CLASSES.length : 0);
  }

  /** -1 for a frame without a box. */
  groupOf(frame: FrameIndex): GroupIndex {
    return this.#groupOf[frame];
  }

  /** The group of a class, in a tree rooted by class. */
  classGroup(of: MemoryClass): GroupIndex {
    return this.#frameOf.length + of;
  }

  #describe(group: GroupIndex): FlameGroup {
    if (group < NO_FRAME_GROUPS.length) return { kind: 'absent', reason: NO_FRAME_GROUPS[group] };
    if (group < this.#frameOf.length) return this.#describeFrame(this.#frameOf[group]);
    const { id, label, about } = MEMORY_CLASSES[group - this.#frameOf.length];
    return { kind: 'class', label, about, search: `class:${id}` };
  }

  #keyOf(described: FlameGroup): string {
    if (described.kind === 'absent') return described.reason;
    // 'forward@/home/me/train.py:10' → '1x0f3k9', say.
    const text = described.kind === 'frame' ? this.#identity(described.frame) : described.search;
    return (hashText(text) >>> 0).toString(36);
  }

  /** Frames with the same identity share a box. */
  #identity(frame: FrameView): string {
    switch (this.#grouping) {
      case 'function':
        return `${frame.name}@${frame.filename}`;
      case 'file':
        return frame.filename;
      case 'module':
        return moduleOf(frame).name;
      default:
        return frameText(frame);
    }
  }

  #describeFrame(index: FrameIndex): FlameGroup {
    const frame = this.#stacks.frame(index);
    const { name, filename } = frame;
    const label = functionText(frame);
    const file = framePath({ ...frame, line: 0 }) ?? '';
    const group = { kind: 'frame', frame, location: '' } as const;
    switch (this.#grouping) {
      case 'function': {
        const search = filename === '' ? '' : ` ${quoteText(filename)}`;
        return { ...group, label, location: file, search: `${quoteText(name)}${search}` };
      }
      case 'file':
        return file === ''
          ? { ...group, label: 'unknown file', search: undefined }
          : { ...group, label: file, search: quoteText(filename) };
      case 'module': {
        const module = moduleOf(frame);
        return { ...group, label: module.name, search: quoteText(module.text) };
      }
      default:
        return { ...group, label, location: framePath(frame) ?? '', search: frameTerm(frame) };
    }
  }
}

const moduleOf = ({ name, filename, kind }: FrameView): ModuleName =>
  moduleName(qualifiedName(name), filename, kind !== 'cpp');

function isShown(
  { kind, isPlumbing }: Pick<FrameView, 'kind' | 'isPlumbing'>,
  shown: FlameFrames,
): boolean {
  if (shown === 'own') return kind === 'user';
  return shown === 'all' || !isPlumbing;
}

/**
 * A frame's module: the installed package, the standard library, the folder of a user's file, or the outermost C++
 * namespace.
 *
 *   …/site-packages/torch/nn/modules/linear.py   torch          /site-packages/torch/
 *   /usr/lib/python3.12/threading.py             python         /lib/python3.12/
 *   /home/me/run/train.py                        /home/me/run   /home/me/run/
 *   at::native::mm (no file)                     at             at::
 */
interface ModuleName {
  readonly name: string;
  /** A text that its frames contain in their function or file. */
  readonly text: string;
}

const INSTALLED = /[/\\](?:site|dist)-packages[/\\]([^/\\]+)[/\\]?/;
const STANDARD_LIBRARY = /[/\\]lib(?:64)?[/\\]python\d[\d.]*t?[/\\]|^<frozen /i;
const FOLDER = /^.+[/\\]/;
const NAMESPACE = /^(\w+)::/;

/** @param symbol the function's name without types, see `qualifiedName` */
export function moduleName(symbol: string, filename: string, isPython: boolean): ModuleName {
  if (!isPython) {
    const namespace = NAMESPACE.exec(symbol);
    if (namespace === null) return { name: 'C and C++', text: symbol };
    return { name: namespace[1], text: namespace[0] };
  }
  const installed = INSTALLED.exec(filename);
  if (installed !== null) return { name: installed[1].replace(/\.py$/, ''), text: installed[0] };
  const library = STANDARD_LIBRARY.exec(filename);
  if (library !== null) return { name: 'python', text: library[0] };
  const folder = FOLDER.exec(filename)?.[0];
  return folder === undefined
    ? { name: filename, text: filename }
    : { name: folder.slice(0, -1), text: folder };
}
