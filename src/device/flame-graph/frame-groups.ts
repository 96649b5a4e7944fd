/** Assigns frames to boxes and names the boxes. */

import { getOrMake, memoized } from '../../base/collections.ts';
import { hashText } from '../../base/hash.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES, type MemoryClass } from '../classes/types.ts';
import { FrameKinds, qualifiedName } from '../model/frame-kinds.ts';
import { framePath, functionText } from '../model/frame-text.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';
import type { FrameView } from '../model/types.ts';
import { frameTerm, frameText, quoteText } from '../search/qualifier.ts';
import { coarser, type FrameLevel, type FrameTarget, levelOf } from './transform-text.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export type GroupIndex = number;

/** All frames of a target, made into one. It follows the frames of the table. */
export interface CollapsedFrame {
  /** One of them. */
  readonly frame: FrameIndex;
  readonly level: FrameLevel;
}

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
  readonly #levelOf: readonly FrameLevel[];
  readonly describe = memoized((group: GroupIndex): FlameGroup => this.#describe(group));
  readonly keyOf = memoized((group: GroupIndex): string => this.#keyOf(group));
  readonly #stacks: StackReader;
  readonly #named = new Map<GroupIndex, FrameView>();
  readonly #namingGroup = new Map<StackIndex, GroupIndex>();
  #byKey: ReadonlyMap<string, GroupIndex> | undefined;

  constructor(
    source: StackSource,
    stacks: StackReader,
    grouping: FlameGrouping,
    shown: FlameFrames,
    collapsed: readonly CollapsedFrame[] = [],
  ) {
    const { frames, strings } = source;
    this.#stacks = stacks;
    this.#groupOf = new Int32Array(frames.length + collapsed.length).fill(-1);
    const level = levelOf(grouping);
    const kinds = new FrameKinds(strings, frames);
    const frameOf: FrameIndex[] = NO_FRAME_GROUPS.map(() => -1);
    const levels: FrameLevel[] = NO_FRAME_GROUPS.map(() => level);
    const known = new Map<string, GroupIndex>();
    const add = (row: number, frame: FrameIndex, own: FrameLevel) => {
      this.#groupOf[row] = getOrMake(known, identityOf(stacks.frame(frame), own), () => {
        levels.push(own);
        return frameOf.push(frame) - 1;
      });
    };
    for (let frame = 0; frame < frames.length; frame++) {
      if (isShown(kinds.of(frame), shown)) add(frame, frame, level);
    }
    for (const [i, one] of collapsed.entries()) {
      add(frames.length + i, one.frame, coarser(level, one.level));
    }
    // Of the plumbing of C++ alone nothing is shown: such stacks get the name that they have everywhere else.
    if (shown === 'known' && (level === 'line' || level === 'function')) {
      for (const stack of this.#bareStacks(source.stacks)) {
        const view = stacks.topUserFrameView(stack);
        const frame = stacks.topUserFrame(stack);
        if (view === undefined || frame === undefined) continue;
        const group = getOrMake(known, `named ${functionText(view)}`, () => {
          levels.push(level);
          this.#named.set(frameOf.length, view);
          return frameOf.push(frame) - 1;
        });
        this.#namingGroup.set(stack, group);
      }
    }
    this.#frameOf = frameOf;
    this.#levelOf = levels;
    this.length = frameOf.length + (grouping === 'class' ? MEMORY_CLASSES.length : 0);
  }

  /** Recorded stacks of which no frame has a box. */
  *#bareStacks({ length, frame, parent }: StackSource['stacks']): Generator<StackIndex> {
    const isBare = new Uint8Array(length);
    isBare[EMPTY_STACK] = 1;
    for (let stack = EMPTY_STACK + 1; stack < length; stack++) {
      isBare[stack] = this.#groupOf[frame[stack]] < 0 ? isBare[parent[stack]] : 0;
      if (isBare[stack] === 1) yield stack;
    }
  }

  /** The box that names a recorded stack of which no frame has one; undefined if nothing names it. */
  namingGroup(stack: StackIndex): GroupIndex | undefined {
    return this.#namingGroup.get(stack);
  }

  /** -1 for a frame without a box. */
  groupOf(frame: FrameIndex): GroupIndex {
    return this.#groupOf[frame];
  }

  /** One frame of the group, which must have some. */
  frameOf(group: GroupIndex): FrameIndex {
    return this.#frameOf[group];
  }

  /** The group with that key; undefined if this file has none. */
  find(key: string): GroupIndex | undefined {
    this.#byKey ??= new Map(Array.from({ length: this.length }, (_, at) => [this.keyOf(at), at]));
    return this.#byKey.get(key);
  }

  /** The group of a class, in a tree rooted by class. */
  classGroup(of: MemoryClass): GroupIndex {
    return this.#frameOf.length + of;
  }

  #describe(group: GroupIndex): FlameGroup {
    if (group < NO_FRAME_GROUPS.length) return { kind: 'absent', reason: NO_FRAME_GROUPS[group] };
    const named = this.#named.get(group);
    // No transform finds it, because its frame has no box.
    if (named !== undefined) {
      return { ...describeFrame(named, this.#levelOf[group]), targets: [] };
    }
    if (group < this.#frameOf.length) {
      return describeFrame(this.#stacks.frame(this.#frameOf[group]), this.#levelOf[group]);
    }
    const { id, label, about } = MEMORY_CLASSES[group - this.#frameOf.length];
    return { kind: 'class', label, about, search: `class:${id}` };
  }

  #keyOf(group: GroupIndex): string {
    const described = this.describe(group);
    if (described.kind === 'absent') return described.reason;
    if (this.#named.has(group)) return keyOfText(`named ${described.label}`);
    return described.kind === 'frame'
      ? keyOf(described.frame, this.#levelOf[group])
      : keyOfText(described.search ?? '');
  }
}

/** Frames with the same identity share a box. */
function identityOf(frame: FrameView, level: FrameLevel): string {
  switch (level) {
    case 'function':
      return `${frame.name}@${frame.filename}`;
    case 'file':
      return frame.filename;
    case 'module':
      return moduleOf(frame).name;
    case 'line':
      return frameText(frame);
  }
}

/** 'forward@/home/me/train.py:10' → '1x0f3k9', say. */
const keyOfText = (text: string): string => (hashText(text) >>> 0).toString(36);

const keyOf = (frame: FrameView, level: FrameLevel): string => keyOfText(identityOf(frame, level));

function describeFrame(
  frame: FrameView,
  level: FrameLevel,
): Extract<FlameGroup, { kind: 'frame' }> {
  const { name, filename } = frame;
  const label = functionText(frame);
  const file = framePath({ ...frame, line: 0 }) ?? '';
  const module = moduleOf(frame);
  const target = (of: FrameLevel, text: string): FrameTarget & { readonly label: string } => {
    return { level: of, key: keyOf(frame, of), label: text };
  };
  // Of a long path, the last two folders.
  const inModule = target('module', module.name.replace(/^.+(?=(?:[/\\][^/\\]+){2}$)/, '…'));
  const group = { kind: 'frame', frame, level, location: '' } as const;
  switch (level) {
    case 'function': {
      const targets = [target('function', label), inModule];
      const search = filename === '' ? '' : ` ${quoteText(filename)}`;
      return { ...group, label, location: file, targets, search: `${quoteText(name)}${search}` };
    }
    case 'file': {
      const text = file === '' ? 'unknown file' : file;
      const search = file === '' ? undefined : quoteText(filename);
      return { ...group, label: text, targets: [target('file', text)], search };
    }
    case 'module':
      return {
        ...group,
        label: module.name,
        targets: [inModule],
        search: quoteText(module.text),
      };
    case 'line': {
      const targets = [target('function', label), inModule];
      const location = framePath(frame) ?? '';
      return { ...group, label, location, targets, search: frameTerm(frame) };
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
