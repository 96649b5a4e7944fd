/**
 * Finds the counterpart in A of each line of B. In an unedited file the line numbers decide. In an edited file, the
 * lines of each function are aligned in order, like a text diff: what a line calls identifies it; its number hardly
 * counts. Lines never match across functions.
 *
 *   A forward  40 → attention   41 → mlp                 B forward  52 → norm   53 → attention   54 → mlp
 *   40 matches 53, 41 matches 54, and 52 is new
 *
 * Runs come from different machines, checkouts and environments, and scripts are often copied before they are changed,
 * so files are matched first:
 *
 *   A /home/a/proj/train.py                    B /workspace/proj/train.py       by its name and folders
 *   A /opt/venv/site-packages/torch/optim.py   B /usr/…/dist-packages/torch/…   by its place in the package
 *   A pairs.py                                 B pairs_edited.py                by the functions in it
 */

import { addTo, addUp, getOrMake, sumBy } from '../../base/collections.ts';
import { fileName } from '../../base/file-names.ts';
import type { RunProfile, SideFrame } from './types.ts';

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
  readonly calls: Set<string>;
  /** The fewest frames of the same function above it: distinguishes a forward called by another forward. */
  level: number;
}

/** By function: its lines in order. */
type FileLines = ReadonlyMap<string, readonly Line[]>;
type Pair = readonly [a: Line, b: Line];

export function alignFrames(a: RunProfile, b: RunProfile): FrameAlignment {
  const [filesA, filesB] = [filesOf(a), filesOf(b)];
  const files = alignFiles(filesA, filesB);
  const toA = new Int32Array(b.frames.length).fill(-1);
  for (const [fileB, fileA] of files) {
    const [own, other] = [filesB.get(fileB) ?? new Map(), filesA.get(fileA) ?? new Map()];
    const pairs = isUnedited(other, own) ? sameLines(other, own) : alignedLines(other, own);
    for (const [lineA, lineB] of pairs) toA[lineB.frame] = lineA.frame;
  }
  return { toA, files };
}

/** TorchInductor names its files by a hash of their content. */
const GENERATED = /(^|[\\/])(torchinductor_[^\\/]*|\.?triton[\\/]cache)[\\/]/;

/** '<generated>' for all compiled code; otherwise the filename itself. */
export const fileKey = (filename: string): string =>
  GENERATED.test(filename) ? '<generated>' : filename;

/** Bounds the time for endless recursion; what is farther up hardly tells lines apart. */
const MAX_CALLERS = 500;

function filesOf({ frames, stacks, runs }: RunProfile): Map<string, FileLines> {
  const functionOf = ({ filename, name }: SideFrame) => `${fileKey(filename)} ${name}`;
  const functions = frames.map(functionOf);
  const lines = frames.map(
    ({ line }, frame): Line => ({ frame, line, calls: new Set(), level: Number.POSITIVE_INFINITY }),
  );
  for (let row = 1; row < stacks.length; row++) {
    const frame = stacks.frame[row];
    const above = stacks.frame[stacks.parent[row]];
    if (above >= 0)
      lines[above].calls.add(`${frames[frame].name} ${fileName(frames[frame].filename)}`);
    let level = 0;
    let callers = 0;
    for (let up = stacks.parent[row]; up > 0 && callers < MAX_CALLERS; up = stacks.parent[up]) {
      if (functions[stacks.frame[up]] === functions[frame]) level++;
      callers++;
    }
    lines[frame].level = Math.min(lines[frame].level, level);
  }
  for (const { stack } of runs) if (stack > 0) lines[stacks.frame[stack]].calls.add('·');
  const files = new Map<string, Map<string, Line[]>>();
  frames.forEach(({ filename, name }, frame) => {
    const file = getOrMake(files, fileKey(filename), () => new Map<string, Line[]>());
    addTo(file, name, lines[frame]);
  });
  for (const file of files.values())
    for (const own of file.values()) own.sort((x, y) => x.line - y.line);
  return files;
}

const INSTALLED = /^.*[\\/](?:site|dist)-packages[\\/]/i;
const STANDARD_LIBRARY = /^.*[\\/]lib(?:64)?[\\/]python\d[\d.]*t?[\\/]/i;
/** Half the functions in common: the same script, edited. */
const ENOUGH_IN_COMMON = 0.5;

/** The counterpart in A of each file of B that has one: the first rule that finds a free one decides. */
function alignFiles(
  a: ReadonlyMap<string, FileLines>,
  b: ReadonlyMap<string, FileLines>,
): ReadonlyMap<string, string> {
  const byPlace = new Map(Array.from(a.keys(), (file) => [placeOf(file), file]));
  const free = new Set(a.keys());
  const matched = new Map<string, string>();
  const rules: ((file: string, lines: FileLines) => string | undefined)[] = [
    (file) => byPlace.get(placeOf(file)),
    (file) => best(free, 1, (other) => commonParts(file, other)),
    (file, lines) =>
      best(isScript(file) ? free : [], ENOUGH_IN_COMMON, (other) =>
        isScript(other) ? commonFunctions(lines, a.get(other) ?? new Map()) : 0,
      ),
  ];
  for (const rule of rules) {
    for (const [file, lines] of b) {
      const counterpart = matched.has(file) ? undefined : rule(file, lines);
      if (counterpart === undefined || !free.delete(counterpart)) continue;
      matched.set(file, counterpart);
    }
  }
  return matched;
}

/** The path without the parts that differ between machines. */
function placeOf(filename: string): string {
  const path = filename.replaceAll('\\', '/').replace(/(?<=^|\/)[^/]+\/\.\.\//g, '');
  return path.replace(INSTALLED, 'package:').replace(STANDARD_LIBRARY, 'python:');
}

/** Installed files keep their names, but a script may be renamed. */
const isScript = (file: string): boolean => !/^(package|python):|^$|^</.test(placeOf(file));

function best(
  files: Iterable<string>,
  least: number,
  scoreOf: (file: string) => number,
): string | undefined {
  let [found, most]: [string | undefined, number] = [undefined, 0];
  for (const file of files) {
    const score = scoreOf(file);
    if (score >= least && score > most) [found, most] = [file, score];
  }
  return found;
}

/** How many folders two files of one name have in common, counted from the file up. */
function commonParts(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((path) => path.split(/[\\/]/).reverse());
  if (fileName(a) === '' || INSTALLED.test(a) !== INSTALLED.test(b)) return 0;
  let common = 0;
  while (common < partsA.length && partsA[common] === partsB[common]) common++;
  return common;
}

const commonFunctions = (a: FileLines, b: FileLines): number =>
  [...a.keys()].filter((name) => b.has(name)).length / Math.max(a.size, b.size);

/** If this share of a file's lines is unmoved, the file was not edited: the rest are other code paths. */
const UNEDITED_SHARE = 0.8;

function isUnedited(a: FileLines, b: FileLines): boolean {
  const count = (lines: FileLines) => sumBy(lines.values(), ({ length }) => length);
  return sameLines(a, b).length >= UNEDITED_SHARE * Math.min(count(a), count(b));
}

const sameLines = (a: FileLines, b: FileLines): Pair[] =>
  [...b].flatMap(([name, lines]) => {
    const byNumber = new Map(a.get(name)?.map((line) => [line.line, line]));
    return lines.flatMap((line): Pair[] => {
      const same = byNumber.get(line.line);
      return same === undefined ? [] : [[same, line]];
    });
  });

/** Aligns twice: if most of the first alignment agrees on a shift, similar lines then follow it. */
function alignedLines(a: FileLines, b: FileLines): Pair[] {
  const align = (shifts: ReadonlySet<number>) =>
    [...b].flatMap(([name, lines]) => alignInOrder(a.get(name) ?? [], lines, shifts));
  const votes = new Map<number, number>();
  for (const [lineA, lineB] of align(new Set())) addUp(votes, lineB.line - lineA.line, 1);
  return align(new Set([...votes].filter(([, count]) => count > 1).map(([shift]) => shift)));
}

/** The alignment with the highest total likeness that keeps the order and uses each line once. */
function alignInOrder(a: readonly Line[], b: readonly Line[], shifts: ReadonlySet<number>): Pair[] {
  const width = b.length + 1;
  const best = new Float64Array((a.length + 1) * width);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const matched = best[(i - 1) * width + j - 1] + likeness(a[i - 1], b[j - 1], shifts);
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

const SAME_LEVEL = 2;
const OTHER_LEVEL = -4;
const SAME_CALLS = 3;
/** Breaks ties in favor of the shift that most lines of the file have. */
const SAME_SHIFT = 0.5;

function likeness(a: Line, b: Line, shifts: ReadonlySet<number>): number {
  const level = a.level === b.level ? SAME_LEVEL : OTHER_LEVEL;
  const shift = shifts.has(b.line - a.line) ? SAME_SHIFT : 0;
  return level + SAME_CALLS * inCommon(a.calls, b.calls) + shift;
}

/** 0 to 1: the shared part of both sets. */
function inCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  const common = [...a].filter((one) => b.has(one)).length;
  return common / (a.size + b.size - common);
}
