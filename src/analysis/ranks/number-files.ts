/**
 * Which rank each file is, which file of a rank to compare if there are several, and the roles if the user gives them.
 */

import { addTo, groupBy, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { fileName } from '../../base/file-names.ts';
import { type RankName, rankName, rankOfName } from '../summary-file/rank-of-name.ts';
import type { RankSummary } from '../summary-file/types.ts';
import { momentsOf } from './moments.ts';
import { type JobProblem, namesText } from './problems.ts';
import { linesOf, type RankLines } from './rank-lines.ts';

export interface RankFile {
  /** As given: a path, or a name in a folder. */
  readonly path: string;
  readonly summary: RankSummary;
}

export interface NumberedFile extends RankFile {
  readonly rank: number;
  /** No name contained this rank, so it was numbered in order. */
  readonly isCounted: boolean;
  /** When it was recorded, according to its name: 'EXTEND', 'step 10'; or ''. */
  readonly moment: string;
  /** Files of the same rank that are not shown: other moments or duplicates. */
  readonly others: readonly string[];
}

/** A rank as the analysis sees it. */
export interface Member extends NumberedFile {
  readonly lines: RankLines;
}

const NATURAL = new Intl.Collator('en', { numeric: true });
/** From the outermost to the innermost, as Megatron-LM numbers its ranks. */
const MESH_ORDER = ['pp', 'dp', 'ep', 'cp', 'mp', 'tp'];

/** One file per rank, in order; the roles that the names give, if every name has a pipeline stage. */
export function numberFiles(files: readonly RankFile[], pattern: RegExp | undefined) {
  // 'rank2' before 'rank10'.
  const inOrder = files
    .toSorted((a, b) => NATURAL.compare(a.path, b.path) || (a.path < b.path ? -1 : 1))
    .map((file) => ({ ...file, name: rankName(file.path) }));
  const placeOf = meshNumber(inOrder.map(({ name }) => name));
  const byRank = new Map<number, NumberedFile[]>();
  const unnumbered: NumberedFile[] = [];
  for (const { name, ...file } of inOrder) {
    const rank =
      pattern === undefined
        ? (name.rank ?? placeOf(name.mesh, file.summary.rank))
        : rankOfName(file.path, pattern);
    const rest = { ...file, moment: name.moment, others: [] };
    if (rank == null) unnumbered.push({ ...rest, rank: -1, isCounted: true });
    else addTo(byRank, rank, { ...rest, rank, isCounted: false });
  }
  const problems: JobProblem[] = [];
  if (byRank.size > 0 && unnumbered.length > 0) {
    const paths = unnumbered.map(({ path }) => path);
    const message = `No rank in the name of ${namesText(paths)}, so they are numbered in order. Use --pattern to say where the rank is.`;
    problems.push({ code: 'unknown-ranks', files: paths, message });
  }
  // 'step100.pickle', 'step200.pickle': dumps of one process, which has no number.
  const areMoments = new Set(unnumbered.map(({ moment }) => moment)).size === unnumbered.length;
  if (
    byRank.size === 0 &&
    unnumbered.length > 1 &&
    areMoments &&
    unnumbered.every(({ moment }) => moment !== '')
  ) {
    byRank.set(
      0,
      unnumbered.splice(0).map((file) => ({ ...file, rank: 0 })),
    );
  }
  let next = 0;
  for (const file of unnumbered) {
    while (byRank.has(next)) next++;
    byRank.set(next, [{ ...file, rank: next }]);
  }
  const perRank = [...byRank.values()].map(distinctFiles);
  const [only, ...more] = perRank;
  const moments =
    only !== undefined && more.length === 0 && only.length > 1 ? momentsOf(only) : null;
  const moment = commonMoment([...byRank.values()]);
  const ranks = perRank
    .map((own) => chosenFile(own, moment.name, problems))
    .sort((a, b) => a.rank - b.rank)
    .map((file): Member => ({ ...file, lines: linesOf(file.summary) }));
  return {
    ranks,
    /** The dumps of the job's only rank; null for more ranks, or for one dump. */
    moments,
    problems,
    layout: layoutOfNames(ranks),
    notes: [...moment.notes, ...countedPair(ranks)],
  };
}

/** Numbers mesh places that no file name numbers. A file without a place gets the rank in its summary. */
function meshNumber(
  names: readonly RankName[],
): (mesh: RankName['mesh'], own: number | null) => number | null {
  const valuesOf = (dimension: string) => names.map(({ mesh }) => mesh[dimension]);
  const named = MESH_ORDER.filter((one) => valuesOf(one).some((value) => value !== undefined));
  // 'tp8/a.pickle' and 'tp8/b.pickle': a value that never varies is a size, unless the files are moments of one rank.
  const areMoments = new Set(names.map(({ moment }) => moment)).size === names.length;
  const varied = named.filter((one) => new Set(valuesOf(one)).size > 1);
  const order = varied.length > 0 || !areMoments ? varied : named;
  const sizes = order.map((one) => 1 + highest(valuesOf(one).map((value) => value ?? 0)));
  return (mesh, own) => {
    if (Object.keys(mesh).length === 0) return own;
    const isPlaced = order.length > 0 && order.every((one) => mesh[one] !== undefined);
    return isPlaced ? order.reduce((sum, one, i) => sum * sizes[i] + mesh[one], 0) : null;
  };
}

/** The moment that most ranks have a file for; among equals, the one with the most allocated memory. */
function commonMoment(ranks: readonly NumberedFile[][]): { name: string; notes: string[] } {
  const moments = [...groupBy(ranks.flat(), ({ moment }) => moment)].map(([name, own]) => ({
    name,
    ranks: new Set(own.map(({ rank }) => rank)).size,
    bytes: sumBy(own, ({ summary }) => summary.peak.allocatedBytes.bytes ?? 0),
  }));
  const [first] = moments.toSorted((a, b) => b.ranks - a.ranks || b.bytes - a.bytes);
  const hasSeveral = ranks.some((own) => own.some(({ moment }) => moment !== own[0].moment));
  if (!hasSeveral) return { name: first?.name ?? '', notes: [] };
  const textOf = (name: string) => name || 'no moment in the name';
  const names = namesText(moments.map(({ name }) => textOf(name)));
  const note = `Ranks have files of ${moments.length} moments (${names}); shown: ${textOf(first.name)}.`;
  return { name: first.name, notes: [note] };
}

/** After `summarize`, a snapshot and its own summary are in the same folder. */
function distinctFiles(files: readonly NumberedFile[]): NumberedFile[] {
  const snapshotOf = ({ summary: { file, events, startUs } }: NumberedFile) =>
    JSON.stringify([file.name, file.bytes, events, startUs]);
  return [...groupBy(files, snapshotOf).values()].map(([file]) => file);
}

/** The file in which the rank ran out of memory, or else the one of the given moment. */
function chosenFile(
  distinct: readonly NumberedFile[],
  moment: string,
  problems: JobProblem[],
): NumberedFile {
  const chosen =
    distinct.find(({ summary }) => summary.ooms.some(({ wasRetried }) => !wasRetried)) ??
    distinct.find((file) => file.moment === moment) ??
    distinct[0];
  const others = distinct.filter((one) => one !== chosen);
  for (const { path } of others.filter((one) => one.moment === chosen.moment)) {
    const message = `${chosen.path} and ${path} are both of rank ${chosen.rank}; the first one is shown.`;
    problems.push({ code: 'two-files-of-one-rank', files: [chosen.path, path], message });
  }
  return { ...chosen, others: others.map(({ path }) => path) };
}

/** If no name has a rank, identify the two files by name. */
function countedPair(ranks: readonly NumberedFile[]): string[] {
  if (ranks.length !== 2 || !ranks.every(({ isCounted }) => isCounted)) return [];
  const names = ranks.map(({ rank, path }) => `rank ${rank} is ${fileName(path)}`);
  return [`No name says a rank: ${names.join(', ')}.`];
}

function layoutOfNames(ranks: readonly NumberedFile[]): Layout | undefined {
  const stages = new Map(ranks.map(({ rank, path }) => [rank, rankName(path).mesh.pp]));
  const isKnown = [...stages.values()].every((stage) => stage !== undefined);
  if (!isKnown || new Set(stages.values()).size < 2) return undefined;
  return { roleOf: (rank) => `stage ${stages.get(rank)}` };
}

/**
 * Roles given by the user: `pp4,tp2`, the sizes of a device mesh from the outermost to the innermost, as in
 * torch.distributed.init_device_mesh; or JSON with the ranks of each role.
 *
 *   pp2,tp2      ranks 0, 1 are stage 0, ranks 2, 3 stage 1
 *   {"roles": [{"name": "trainer", "ranks": [0, 1, 2]}, {"name": "rollout", "ranks": [3]}]}
 */
export interface Layout {
  /** The name of a rank's role; undefined if the layout lacks the rank. */
  roleOf(rank: number): string | undefined;
}

/** Along these dimensions ranks do different work; along all others they hold parts of the same. */
const STAGES = /^(pp|stage|pipeline)$/i;
const DIMENSION = /^([a-z_]+)[=:]?(\d{1,6})$/i;

/** @throws RangeError with a message for the user */
export function parseLayout(text: string): Layout {
  return text.trimStart().startsWith('{') ? fromJson(text) : fromSizes(text);
}

function fromSizes(text: string): Layout {
  const dimensions = text.split(',').map((part) => {
    const [, name, digits] = DIMENSION.exec(part.trim()) ?? [];
    if (Number(digits) > 0) return { name, size: Number(digits) };
    throw new RangeError(
      `'${part.trim()}' is not a dimension of a layout: write names and sizes such as pp4,tp2`,
    );
  });
  const product = (of: typeof dimensions) => of.reduce((all, { size }) => all * size, 1);
  const at = dimensions.findIndex(({ name }) => STAGES.test(name));
  const inner = product(dimensions.slice(at + 1));
  return {
    roleOf: (rank) => {
      if (rank >= product(dimensions)) return undefined;
      return at < 0 ? 'all' : `stage ${Math.floor(rank / inner) % dimensions[at].size}`;
    },
  };
}

function fromJson(text: string): Layout {
  const names = new Map<number, string>();
  try {
    for (const { name, ranks } of JSON.parse(text).roles) {
      if (typeof name !== 'string') throw new TypeError('no name');
      for (const rank of ranks) {
        if (!Number.isInteger(rank)) throw new TypeError('no rank');
        names.set(rank, name);
      }
    }
  } catch {
    throw new RangeError(
      'a layout file looks like {"roles": [{"name": "trainer", "ranks": [0, 1]}, {"name": "rollout", "ranks": [2]}]}',
    );
  }
  return { roleOf: (rank) => names.get(rank) };
}
