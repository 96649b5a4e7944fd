/**
 * What the rows of a file look like, byte for byte, as a tree of steps. A step is a run of bytes that
 * never change, then one value. Example, the first steps of an event as CPython writes it:
 *
 *   } 94 ( 6a a6 01 00 00   then the action   (the run is EMPTY_DICT MEMOIZE MARK LONG_BINGET 422)
 *   6a a8 01 00 00          then the address
 *   68 15                   then the size
 *
 * Rows that begin alike share their steps. Where they differ, by a key more or a text that is not at
 * its default, a step has another one beside it: a row whose bytes do not fit the first tries the next.
 */
import { LaneKind, type Tag } from './types.ts';

// Where a step's numbers are; a step takes STEP_SIZE of them. Names of their own and no properties of
// one object, which would cost the hot loop a second compilation.
export const STEP_KIND = 0;
/** Which of the target's number or text columns; of the last step what a row lacks, see below. */
export const STEP_COLUMN = 1;
/** The first eight bytes of a run are compared as two words, with masks of the bytes that belong to it. */
export const STEP_RUN_BYTES = 2;
export const STEP_WORD0 = 3;
export const STEP_MASK0 = 4;
export const STEP_WORD1 = 5;
export const STEP_MASK1 = 6;
/** Whole words of the run after its first eight bytes, and its last bytes. */
export const STEP_WORDS_FROM = 7;
export const STEP_WORDS_END = 8;
export const STEP_LAST_WORD = 9;
export const STEP_LAST_MASK = 10;
/** What the run puts in the memo: texts that are at their default. */
export const STEP_MEMO_FROM = 11;
export const STEP_MEMO_END = 12;
/** The step after this one. */
export const STEP_NEXT = 13;
/** The step to try where the run does not fit; 0 for none. */
export const STEP_OTHER = 14;
const STEP_SIZE = 16;

/** What a row lacks, and whether its dictionary is in the memo. */
export const END_NO_TIME = 1;
export const END_NO_NODE = 2;
export const END_NO_PAIR = 4;
export const END_IN_MEMO = 8;

/** Real files have ten to thirty steps. */
const MAX_STEPS = 96;
/** Bytes that a value takes at most, lists apart. */
const MAX_TEXT_BYTES = 272;
const MAX_VALUE_BYTES = 24;

/** One learned step, before it has its place. */
export interface LearnedStep {
  readonly kind: LaneKind;
  readonly column: number;
  readonly run: readonly number[];
  readonly memo: readonly (readonly [tag: Tag, val: number])[];
}

/** The values that PyTorch writes first: action, address, size, stream, time. */
const HEAD_KINDS: readonly LaneKind[] = [
  LaneKind.Code,
  LaneKind.Whole,
  LaneKind.Whole,
  LaneKind.Index,
  LaneKind.Whole,
];
const HEAD_RUN_BYTES = 8;

/**
 * The steps of a row that comes in the usual order; -1 for a step that there is not. Of the tail the
 * texts are at their defaults, and its frames end the row.
 */
export interface StraightSteps {
  /** The row's own memo slot, where it is written out. */
  put: number;
  action: number;
  address: number;
  size: number;
  stream: number;
  time: number;
  tail: number;
}

export class LaneSteps {
  readonly steps = new Int32Array(MAX_STEPS * STEP_SIZE);
  words = new Int32Array(0);
  memoTags = new Uint8Array(0);
  memoVals = new Int32Array(0);
  /** Bytes that a row takes at most, its list apart. */
  rowBytes = 0;
  readonly straight: StraightSteps = {
    put: -1,
    action: -1,
    address: -1,
    size: -1,
    stream: -1,
    time: -1,
    tail: -1,
  };
  #count = 0;

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds the steps that are not there yet. False where there is none to add, or no room. */
  add(row: readonly LearnedStep[]): boolean {
    if (this.#count + row.length > MAX_STEPS) return false;
    const before = this.#count;
    let parent = -1;
    for (const learned of row)
      parent = this.#find(parent, learned) ?? this.#append(parent, learned);
    const bytes = row.reduce((sum, { kind, run }) => sum + run.length + valueBytes(kind), 16);
    this.rowBytes = Math.max(this.rowBytes, bytes);
    this.#findStraight();
    return this.#count > before;
  }

  /** The first row that was learned, where it comes in the usual order. */
  #findStraight(): void {
    const { steps, straight } = this;
    const put = steps[STEP_KIND] === LaneKind.Slot ? 0 : -1;
    const head: number[] = [];
    for (let at = put < 0 ? 0 : steps[STEP_NEXT]; head.length <= HEAD_KINDS.length; ) {
      head.push(at);
      at = steps[at + STEP_NEXT];
    }
    const isUsual = HEAD_KINDS.every((kind, i) => {
      const isShort = steps[head[i] + STEP_RUN_BYTES] <= HEAD_RUN_BYTES;
      return steps[head[i] + STEP_KIND] === kind && isShort;
    });
    if (!isUsual) return;
    const [action = -1, address = -1, size = -1, stream = -1, time = -1, rest = -1] = head;
    Object.assign(straight, { put, action, address, size, stream, time });
    straight.tail = this.#findTail(rest);
  }

  /** Of the steps at `first` the one whose list ends the row, -1 for none. */
  #findTail(first: number): number {
    const { steps } = this;
    let at = first;
    do {
      const last = steps[at + STEP_NEXT];
      const isLast = steps[last + STEP_KIND] === LaneKind.End && steps[last + STEP_RUN_BYTES] === 1;
      if (steps[at + STEP_KIND] === LaneKind.Node && isLast) return at;
      at = steps[at + STEP_OTHER];
    } while (at !== 0);
    return -1;
  }

  /** The step after `parent` (-1 for the first) that is the same. */
  #find(parent: number, learned: LearnedStep): number | undefined {
    if (this.#count === 0) return undefined;
    let at = parent < 0 ? 0 : this.steps[parent + STEP_NEXT];
    if (parent >= 0 && at === 0) return undefined;
    do {
      if (this.#isSame(at, learned)) return at;
      at = this.steps[at + STEP_OTHER];
    } while (at !== 0);
    return undefined;
  }

  #isSame(at: number, learned: LearnedStep): boolean {
    const { steps } = this;
    if (steps[at + STEP_KIND] !== learned.kind || steps[at + STEP_COLUMN] !== learned.column)
      return false;
    if (steps[at + STEP_RUN_BYTES] !== learned.run.length) return false;
    const { heads, words, last } = wordsOf(learned.run);
    const from = steps[at + STEP_WORDS_FROM];
    return (
      steps[at + STEP_WORD0] === heads[0].word &&
      steps[at + STEP_WORD1] === heads[1].word &&
      steps[at + STEP_LAST_WORD] === last.word &&
      words.every((word, i) => this.words[from + i] === word)
    );
  }

  #append(parent: number, { kind, column, run, memo }: LearnedStep): number {
    const { steps } = this;
    const at = this.#count++ * STEP_SIZE;
    const { heads, words, last } = wordsOf(run);
    const wordsFrom = this.words.length;
    const memoFrom = this.memoTags.length;
    this.words = Int32Array.from([...this.words, ...words]);
    this.memoTags = Uint8Array.from([...this.memoTags, ...memo.map(([tag]) => tag)]);
    this.memoVals = Int32Array.from([...this.memoVals, ...memo.map(([, val]) => val)]);
    const [first, second] = heads;
    steps.set([kind, column, run.length, first.word, first.mask, second.word, second.mask], at);
    steps.set([wordsFrom, this.words.length, last.word, last.mask], at + STEP_WORDS_FROM);
    steps.set([memoFrom, this.memoTags.length, 0, 0], at + STEP_MEMO_FROM);
    if (at > 0) this.#link(parent, at);
    return at;
  }

  /** Makes a step the last of those that may follow `parent`. */
  #link(parent: number, at: number): void {
    const { steps } = this;
    if (parent >= 0 && steps[parent + STEP_NEXT] === 0) {
      steps[parent + STEP_NEXT] = at;
      return;
    }
    let before = parent < 0 ? 0 : steps[parent + STEP_NEXT];
    while (steps[before + STEP_OTHER] !== 0) before = steps[before + STEP_OTHER];
    steps[before + STEP_OTHER] = at;
  }
}

interface Word {
  readonly word: number;
  readonly mask: number;
}

/** A run as words: two heads, whole words, and what is left. Bytes that are not there have mask 0. */
function wordsOf(run: readonly number[]) {
  const heads: readonly [Word, Word] = [wordAt(run, 0), wordAt(run, 4)];
  const words: number[] = [];
  let at = 8;
  for (; at + 4 <= run.length; at += 4) words.push(wordAt(run, at).word);
  return { heads, words, last: wordAt(run, at) };
}

function wordAt(run: readonly number[], at: number): Word {
  let word = 0;
  let mask = 0;
  for (let i = 0; i < 4 && at + i < run.length; i++) {
    word |= run[at + i] << (8 * i);
    mask |= 0xff << (8 * i);
  }
  return { word, mask };
}

const valueBytes = (kind: LaneKind): number =>
  kind === LaneKind.Text ? MAX_TEXT_BYTES : MAX_VALUE_BYTES;
