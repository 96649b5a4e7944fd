/**
 * Finds the counterpart in A of each file of B. Runs come from different machines, checkouts and environments, and
 * scripts are often copied before they are changed:
 *
 *   A /home/a/proj/train.py                    B /workspace/proj/train.py       by its name and folders
 *   A /opt/venv/site-packages/torch/optim.py   B /usr/…/dist-packages/torch/…   by its place in the package
 *   A pairs.py                                 B pairs_edited.py                by the functions in it
 */
import { fileName } from '../../base/file-names.ts';
import type { SideFrame } from './run-profile.ts';

const INSTALLED = /^.*[\\/](?:site|dist)-packages[\\/]/i;
const STANDARD_LIBRARY = /^.*[\\/]lib(?:64)?[\\/]python\d[\d.]*t?[\\/]/i;
/** TorchInductor names its files by a hash of their content. */
const GENERATED = /(^|[\\/])(torchinductor_[^\\/]*|\.?triton[\\/]cache)[\\/]/;

/** Half the functions in common: the same script, edited. */
const ENOUGH_IN_COMMON = 0.5;

interface FileFacts {
  /** The path without the parts that differ between machines. */
  readonly place: string;
  readonly functions: ReadonlySet<string>;
}

/** The counterpart in A of each filename of B that has one. All compiled code counts as one file. */
export function alignFiles(
  a: readonly SideFrame[],
  b: readonly SideFrame[],
): ReadonlyMap<string, string> {
  const [filesA, filesB] = [filesOf(a), filesOf(b)];
  const matched = new Map<string, string>();
  const free = new Set(filesA.keys());
  const take = (file: string, counterpart: string | undefined) => {
    if (counterpart === undefined || !free.has(counterpart)) return;
    matched.set(file, counterpart);
    free.delete(counterpart);
  };
  const byPlace = new Map(Array.from(filesA, ([file, { place }]) => [place, file]));
  for (const [file, { place }] of filesB) take(file, byPlace.get(place));
  const unmatched = () => [...filesB].filter(([file]) => !matched.has(file));
  for (const [file] of unmatched()) take(file, nearestNamesake(file, free));
  for (const [file, facts] of unmatched()) take(file, mostAlike(facts, filesA, free));
  return matched;
}

/** '<generated>' for all compiled code; otherwise the filename itself. */
export const fileKey = (filename: string): string =>
  GENERATED.test(filename) ? '<generated>' : filename;

function filesOf(frames: readonly SideFrame[]): Map<string, FileFacts> {
  const files = new Map<string, { place: string; functions: Set<string> }>();
  for (const { filename, name } of frames) {
    const key = fileKey(filename);
    const facts = files.get(key) ?? { place: placeOf(key), functions: new Set() };
    files.set(key, facts);
    facts.functions.add(name);
  }
  return files;
}

function placeOf(filename: string): string {
  const path = filename.replaceAll('\\', '/').replace(/(?<=^|\/)[^/]+\/\.\.\//g, '');
  return path.replace(INSTALLED, 'package:').replace(STANDARD_LIBRARY, 'python:');
}

/** The file of that name with the most folders in common, counted from the file up. */
function nearestNamesake(file: string, free: ReadonlySet<string>): string | undefined {
  let best: string | undefined;
  let most = 0;
  for (const other of free) {
    const common = commonParts(file, other);
    if (common > most) [best, most] = [other, common];
  }
  return best;
}

function commonParts(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((path) => path.split(/[\\/]/).reverse());
  if (fileName(a) === '' || INSTALLED.test(a) !== INSTALLED.test(b)) return 0;
  let common = 0;
  while (common < partsA.length && partsA[common] === partsB[common]) common++;
  return common;
}

/** A renamed script. Installed files keep their names. */
function mostAlike(
  { place, functions }: FileFacts,
  files: ReadonlyMap<string, FileFacts>,
  free: ReadonlySet<string>,
): string | undefined {
  if (/^(package|python):|^$|^</.test(place)) return undefined;
  let best: string | undefined;
  let most = ENOUGH_IN_COMMON;
  for (const [file, other] of files) {
    if (!free.has(file) || /^(package|python):|^$|^</.test(other.place)) continue;
    const common = [...functions].filter((name) => other.functions.has(name)).length;
    const share = common / Math.max(functions.size, other.functions.size);
    if (share >= most) [best, most] = [file, share];
  }
  return best;
}
