/**
 * Finds the counterpart in A of each line of B. In an unedited file the line numbers decide. In an edited file, the
 * lines of each function are aligned in order, like a text diff: what a line calls identifies it; its number hardly
 * counts. Lines never match across functions.
 *
 *   A forward  40 → attention   41 → mlp                 B forward  52 → norm   53 → attention   54 → mlp
 *   40 matches 53, 41 matches 54, and 52 is new
 */

import { fileName } from '../../base/file-names.ts';
import { addTo } from '../../base/grouping.ts';
import { getOrMake } from '../../base/memoized.ts';
import { alignFiles, fileKey } from './align-files.ts';
import type { RunProfile, SideFrame } from './run-profile.ts';

export interface FrameAlignment {
  /** The counterpart in A of each frame of B; -1 if it has none. */
  readonly toA: Int32Array;
  /** The counterpart in A of each file of B that has one: see `fileKey`. */
  readonly files: ReadonlyMap<string, string>;
}

/** What distinguishes a line from the others of its function. */
interface Line {
  readonly frame: number;
  readonly line: number;
  /** Functions that it calls; '·' if the line itself allocates. */
  readonly calls: ReadonlySet<string>;
  /** The fewest frames of the same function above it: distinguishes a forward called by another forward. */
  readonly level: number;
}

/** By file, then function: its lines in order. */
type Functions = ReadonlyMap<string, ReadonlyMap<string, readonly Line[]>>;

/** If this share of a file's lines is unmoved, the file was not edited: the rest are other code paths. */
const UNEDITED_SHARE = 0.8;

const SAME_LEVEL = 2;
const OTHER_LEVEL = -4;
const SAME_CALLS = 3;
/** Breaks ties in favor of the shift that most lines of the file have. */
const SAME_SHIFT = 0.5;

export function alignFrames(a: RunProfile, b: RunProfile): FrameAlignment {
  const files = alignFiles(a.frames, b.frames);
  const [functionsA, functionsB] = [functionsOf(a), functionsOf(b)];
  const toA = new Int32Array(b.frames.length).fill(-1);
  for (const [fileB, fileA] of files) {
    const own = functionsB.get(fileB) ?? new Map<string, Line[]>();
    const other = functionsA.get(fileA) ?? new Map<string, Line[]>();
    const pairs = isUnedited(other, own) ? sameLines(other, own) : alignedLines(other, own);
    for (const [lineA, lineB] of pairs) toA[lineB.frame] = lineA.frame;
  }
  return { toA, files };
}

function functionsOf(side: RunProfile): Functions {
  const { frames, stacks } = side;
  const calls = frames.map(() => new Set<string>());
  const levels = new Int32Array(frames.length).fill(-1);
  const ids = functionIds(frames);
  for (let row = 1; row < stacks.length; row++) {
    const frame = stacks.frame[row];
    const above = stacks.frame[stacks.parent[row]];
    if (above >= 0) calls[above].add(`${frames[frame].name} ${fileName(frames[frame].filename)}`);
    let level = 0;
    for (let up = stacks.parent[row]; up > 0; up = stacks.parent[up]) {
      if (ids[stacks.frame[up]] === ids[frame]) level++;
    }
    levels[frame] = levels[frame] < 0 ? level : Math.min(levels[frame], level);
  }
  for (const { stack } of side.runs) if (stack > 0) calls[stacks.frame[stack]].add('·');
  const files = new Map<string, Map<string, Line[]>>();
  frames.forEach(({ filename, name, line }, frame) => {
    const file = getOrMake(files, fileKey(filename), () => new Map<string, Line[]>());
    addTo(file, name, { frame, line, calls: calls[frame], level: levels[frame] });
  });
  for (const file of files.values()) {
    for (const lines of file.values()) lines.sort((x, y) => x.line - y.line);
  }
  return files;
}

/** The same number for all lines of a function. */
function functionIds(frames: readonly SideFrame[]): number[] {
  const known = new Map<string, number>();
  return frames.map(({ filename, name }) => {
    const key = `${fileKey(filename)} ${name}`;
    const id = known.get(key) ?? known.size;
    known.set(key, id);
    return id;
  });
}

type Pair = readonly [a: Line, b: Line];
type FileLines = ReadonlyMap<string, readonly Line[]>;

function isUnedited(a: FileLines, b: FileLines): boolean {
  const count = (lines: FileLines) =>
    [...lines.values()].reduce((sum, { length }) => sum + length, 0);
  return sameLines(a, b).length >= UNEDITED_SHARE * Math.min(count(a), count(b));
}

function sameLines(a: FileLines, b: FileLines): Pair[] {
  const pairs: Pair[] = [];
  for (const [name, lines] of b) {
    const byNumber = new Map(a.get(name)?.map((line) => [line.line, line]));
    for (const line of lines) {
      const same = byNumber.get(line.line);
      if (same !== undefined) pairs.push([same, line]);
    }
  }
  return pairs;
}

/** Aligns twice: if most of the first alignment agrees on a shift, similar lines then follow it. */
function alignedLines(a: FileLines, b: FileLines): Pair[] {
  const align = (shifts: ReadonlySet<number>) =>
    [...b].flatMap(([name, lines]) => alignInOrder(a.get(name) ?? [], lines, shifts));
  const votes = new Map<number, number>();
  for (const [lineA, lineB] of align(new Set())) {
    const shift = lineB.line - lineA.line;
    votes.set(shift, (votes.get(shift) ?? 0) + 1);
  }
  const agreed = [...votes].filter(([, count]) => count > 1).map(([shift]) => shift);
  return align(new Set(agreed));
}

/** The alignment with the highest total likeness that keeps the order and uses each line once. */
function alignInOrder(a: readonly Line[], b: readonly Line[], shifts: ReadonlySet<number>): Pair[] {
  const width = b.length + 1;
  const best = new Float64Array((a.length + 1) * width);
  const scores = a.map((lineA) => b.map((lineB) => likeness(lineA, lineB, shifts)));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const matched = best[(i - 1) * width + j - 1] + scores[i - 1][j - 1];
      best[i * width + j] = Math.max(matched, best[(i - 1) * width + j], best[i * width + j - 1]);
    }
  }
  const pairs: Pair[] = [];
  for (let i = a.length, j = b.length; i > 0 && j > 0; ) {
    const own = best[i * width + j];
    if (own === best[(i - 1) * width + j]) i--;
    else if (own === best[i * width + j - 1]) j--;
    else pairs.push([a[--i], b[--j]]);
  }
  return pairs.reverse();
}

function likeness(a: Line, b: Line, shifts: ReadonlySet<number>): number {
  const level = a.level === b.level ? SAME_LEVEL : OTHER_LEVEL;
  const shift = shifts.has(b.line - a.line) ? SAME_SHIFT : 0;
  return level + SAME_CALLS * inCommon(a.calls, b.calls) + shift;
}

/** 0 to 1: the shared part of both sets. */
function inCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const one of a) if (b.has(one)) common++;
  return common / (a.size + b.size - common);
}
