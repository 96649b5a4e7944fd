/**
 * What can be done to all call stacks before they are added up, one after the other, as in the Firefox Profiler; and how
 * links write it.
 */
import type { FlameGrouping } from './types.ts';

/** What a target is made of: the frames of one line, function, file or module. From the finest to the coarsest. */
const FRAME_LEVELS = ['line', 'function', 'file', 'module'] as const;
export type FrameLevel = (typeof FRAME_LEVELS)[number];

export const coarser = (a: FrameLevel, b: FrameLevel): FrameLevel =>
  FRAME_LEVELS[Math.max(FRAME_LEVELS.indexOf(a), FRAME_LEVELS.indexOf(b))];

/** What a grouping's boxes with frames are made of. */
export const levelOf = (grouping: FlameGrouping): FrameLevel =>
  FRAME_LEVELS.find((level) => level === grouping) ?? 'line';

/** The frames of a box; `key` as in `FlameGroups.keyOf`. */
export interface FrameTarget {
  readonly level: FrameLevel;
  readonly key: string;
}

const KINDS = {
  /** Only allocations with the target; their stacks begin at its outermost frame. */
  focus: 'f',
  /** Only allocations with the target; their stacks end at its outermost frame, so that its callers remain. */
  callers: 'u',
  /** Only what is below a box: `key` is the path of the box, from the outermost one. */
  subtree: 's',
  /** Only what is above a box, if callees are at the root: `key` is the path of the box, from the innermost one. */
  tail: 't',
  /** Without the target's frames: their bytes go to their callers. */
  merge: 'm',
  /** The target's frames that call each other become one frame: recursion, or a trip through a library. */
  collapse: 'c',
  /** Without allocations that have the target in their stack. */
  drop: 'd',
} as const;

export type TransformKind = keyof typeof KINDS;

export interface StackTransform extends FrameTarget {
  readonly kind: TransformKind;
}

const LEVELS: Readonly<Record<FrameLevel, string>> = {
  line: 'l',
  function: 'f',
  file: 'i',
  module: 'm',
};

const ONE = '[fustmcd][lfim]-[\\w.]+';
const LIST = new RegExp(`^${ONE}(,${ONE})*$`);
const TARGET = /^[lfim]-\w+$/;

/** Whether a link's text is a list of transforms. */
export const isTransformList = (text: string): boolean => LIST.test(text);

/** Whether a link's text is a target. */
export const isTarget = (text: string): boolean => TARGET.test(text);

/** 'f-1x0f3k9' */
export const targetText = ({ level, key }: FrameTarget): string => `${LEVELS[level]}-${key}`;

/** 'mf-1x0f3k9' merges a function. */
export const transformText = (kind: TransformKind, target: string): string => KINDS[kind] + target;

/** The single transforms of a list, as texts. */
export const transformsIn = (list: string): readonly string[] =>
  list === '' ? [] : list.split(',');

export const withTransform = (list: string, transform: string): string =>
  [...transformsIn(list), transform].join(',');

/** @param text one of {@link transformsIn} */
export function parseTransform(text: string): StackTransform {
  const nameOf = <K extends string>(letters: Readonly<Record<K, string>>, letter: string) =>
    (Object.keys(letters) as K[]).find((name) => letters[name] === letter);
  return {
    kind: nameOf(KINDS, text[0]) ?? 'merge',
    level: nameOf(LEVELS, text[1]) ?? 'function',
    key: text.slice(3),
  };
}
