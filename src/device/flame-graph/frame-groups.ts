/** Which box each frame goes into, and what the boxes are called. */

import { getOrMake, memoized } from '../../base/memoized.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import type { FrameIndex } from '../../format/snapshot/tables.ts';
import { MEMORY_CLASSES, type MemoryClass } from '../classes/types.ts';
import { FrameKinds, qualifiedName } from '../model/frame-kinds.ts';
import { framePath, functionText } from '../model/frame-text.ts';
import type { StackReader, StackSource } from '../model/stacks.ts';
import type { FrameView } from '../model/types.ts';
import { textTerm } from '../search/parse-search.ts';
import { frameTerm } from '../search/qualifiers/stacks.ts';
import type { FlameFrames, FlameGroup, FlameGrouping, NoFrame } from './types.ts';

export type GroupIndex = number;

/** Boxes for what has no frame come first; the index is that of {@link FrameGroups.describe}. */
export const NO_FRAME_GROUPS: readonly NoFrame[] = [
  'before-recording',
  'no-context',
  'no-python-stack',
  'none-shown',
];

export class FrameGroups {
  readonly length: number;
  /** -1 for frames that get no box. */
  readonly #groupOf: Int32Array;
  /** One of the frames of each group; -1 for those without. */
  readonly #frameOf: readonly FrameIndex[];
  readonly describe = memoized((group: GroupIndex): FlameGroup => this.#describe(group));
  /** Short, and the same in every snapshot of the same code: a part of paths in URLs. */
  readonly keyOf = memoized((group: GroupIndex): string => this.#keyOf(this.describe(group)));
  readonly #grouping: FlameGrouping;
  readonly #stacks: StackReader;
  readonly #kinds: FrameKinds;

  constructor(
    snapshot: StackSource,
    stacks: StackReader,
    grouping: FlameGrouping,
    shown: FlameFrames,
  ) {
    const { frames, strings } = snapshot;
    this.#grouping = grouping;
    this.#stacks = stacks;
    this.#kinds = new FrameKinds(strings, frames);
    this.#groupOf = new Int32Array(frames.length).fill(-1);
    const frameOf: FrameIndex[] = NO_FRAME_GROUPS.map(() => -1);
    const sharedBy = this.#sharing(snapshot);
    const known = new Map<number, GroupIndex>();
    for (let frame = 0; frame < frames.length; frame++) {
      if (!isShown(this.#kinds.of(frame), shown)) continue;
      const group = getOrMake(known, sharedBy(frame), () => frameOf.push(frame) - 1);
      this.#groupOf[frame] = group;
    }
    this.#frameOf = frameOf;
    this.length = frameOf.length + (grouping === 'class' ? MEMORY_CLASSES.length : 0);
  }

  /** -1 for a frame that gets no box. */
  groupOf(frame: FrameIndex): GroupIndex {
    return this.#groupOf[frame];
  }

  /** Of a tree that is rooted by class. */
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
    if (described.kind === 'class') return hashText(described.search);
    return hashText(this.#identity(described));
  }

  #identity({ label, frame }: Extract<FlameGroup, { kind: 'frame' }>): string {
    const { name, filename, line } = frame;
    switch (this.#grouping) {
      case 'class':
      case 'line':
      case 'stack':
        return `${name}@${filename}:${line}`;
      case 'function':
        return `${name}@${filename}`;
      case 'file':
        return filename;
      case 'module':
        return label;
    }
  }

  /** Frames with the same number share a box. */
  #sharing({ frames }: StackSource): (frame: FrameIndex) => number {
    switch (this.#grouping) {
      case 'class':
      case 'line':
      case 'stack':
        return (frame) => frame;
      case 'function': {
        const functions = new TupleInterner();
        return (frame) => functions.intern(frames.name[frame], frames.filename[frame], 0);
      }
      case 'file':
        return (frame) => frames.filename[frame];
      case 'module': {
        const modules = new Map<string, number>();
        return (frame) => {
          const { name } = this.#moduleOf(frame);
          const known = modules.get(name) ?? modules.size;
          modules.set(name, known);
          return known;
        };
      }
    }
  }

  #moduleOf(index: FrameIndex): ModuleName {
    const { name, filename } = this.#stacks.frame(index);
    return moduleName(qualifiedName(name), filename, this.#kinds.isPython(index));
  }

  #describeFrame(index: FrameIndex): FlameGroup {
    const frame = this.#stacks.frame(index);
    const { name, filename } = frame;
    const label = functionText(frame);
    const file = framePath({ ...frame, line: 0 }) ?? '';
    const group = { kind: 'frame', frame } as const;
    switch (this.#grouping) {
      case 'class':
      case 'line':
      case 'stack': {
        return { ...group, label, location: framePath(frame) ?? '', search: frameTerm(frame) };
      }
      case 'function': {
        const search = filename === '' ? '' : ` ${textTerm(filename)}`;
        return { ...group, label, location: file, search: `${textTerm(name)}${search}` };
      }
      case 'file':
        return file === ''
          ? { ...group, label: 'unknown file', location: '', search: undefined }
          : { ...group, label: file, location: '', search: textTerm(filename) };
      case 'module': {
        const { name: module, text } = this.#moduleOf(index);
        return { ...group, label: module, location: '', search: textTerm(text) };
      }
    }
  }
}

function isShown(
  { kind, isPlumbing }: Pick<FrameView, 'kind' | 'isPlumbing'>,
  shown: FlameFrames,
): boolean {
  switch (shown) {
    case 'own':
      return kind === 'user';
    case 'known':
      return !isPlumbing;
    case 'all':
      return true;
  }
}

/** FNV-1a in base 36: 'forward@/home/me/train.py:10' is some '1x0f3k9'. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/**
 * The module that a frame belongs to: the installed package, the standard library, the folder of
 * a file of the user's own, or the outermost namespace of C++.
 *
 *   …/site-packages/torch/nn/modules/linear.py   torch          /site-packages/torch/
 *   /usr/lib/python3.12/threading.py             python         /lib/python3.12/
 *   /home/me/run/train.py                        /home/me/run   /home/me/run/
 *   at::native::mm (no file)                     at             at::
 */
interface ModuleName {
  readonly name: string;
  /** A text that its frames have in their function or file. */
  readonly text: string;
}

const INSTALLED = /[/\\](?:site|dist)-packages[/\\]([^/\\]+)[/\\]?/;
const STANDARD_LIBRARY = /[/\\]lib(?:64)?[/\\]python\d[\d.]*t?[/\\]|^<frozen /i;
const FOLDER = /^.+[/\\]/;
const NAMESPACE = /^(\w+)::/;

/** @param symbol the function's name without its types, see `qualifiedName` */
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
