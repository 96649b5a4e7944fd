/** Which rank each file is, and which file of a rank is compared where there are several. */
import { highest } from '../base/extremes.ts';
import { fileName } from '../base/file-names.ts';
import { addTo, groupBy } from '../base/grouping.ts';
import { type RankName, rankName, rankOfName } from '../summary-file/rank-of-name.ts';
import type { RankSummary } from '../summary-file/types.ts';
import { namesText } from './file-problems.ts';
import type { Layout } from './layout.ts';
import type { JobProblem, NumberedFile, RankFile } from './types.ts';

export interface NumberedFiles {
  /** One a rank, by rank. */
  readonly ranks: readonly NumberedFile[];
  readonly problems: readonly JobProblem[];
  /** Stages of the pipeline, where all names say one. */
  readonly layout: Layout | undefined;
  readonly notes: readonly string[];
}

const NATURAL = new Intl.Collator('en', { numeric: true });
/** From the outermost to the innermost, as Megatron-LM numbers its ranks. */
const MESH_ORDER = ['pp', 'dp', 'ep', 'cp', 'mp', 'tp'];

export function numberFiles(
  files: readonly RankFile[],
  pattern: RegExp | undefined,
): NumberedFiles {
  // 'rank2' before 'rank10'.
  const inOrder = files
    .toSorted((a, b) => NATURAL.compare(a.path, b.path) || (a.path < b.path ? -1 : 1))
    .map((file) => ({ ...file, name: rankName(file.path) }));
  const placeOf = meshNumber(inOrder.map(({ name }) => name.mesh));
  const byRank = new Map<number, NumberedFile[]>();
  const unnumbered: typeof inOrder = [];
  for (const { name, ...file } of inOrder) {
    const rank =
      pattern === undefined
        ? (name.rank ?? placeOf(name.mesh) ?? file.summary.rank)
        : rankOfName(file.path, pattern);
    if (rank == null) unnumbered.push({ name, ...file });
    else addTo(byRank, rank, { ...file, rank, isCounted: false, moment: name.moment, others: [] });
  }
  const problems: JobProblem[] = [];
  if (byRank.size > 0 && unnumbered.length > 0) {
    const paths = unnumbered.map(({ path }) => path);
    problems.push({
      code: 'unknown-ranks',
      files: paths,
      message: `No rank in the name of ${namesText(paths)}: numbered as they come. --pattern says where the rank stands.`,
    });
  }
  let next = 0;
  for (const { name, ...file } of unnumbered) {
    while (byRank.has(next)) next++;
    byRank.set(next, [{ ...file, rank: next, isCounted: true, moment: name.moment, others: [] }]);
  }
  const moment = commonMoment([...byRank.values()].flat());
  const ranks = [...byRank.values()].map((own) => chosenFile(own, moment.name, problems));
  ranks.sort((a, b) => a.rank - b.rank);
  const notes = [...moment.notes, ...countedPair(ranks)];
  return { ranks, problems, layout: layoutOfNames(ranks), notes };
}

/** Numbers the places of a mesh that no name numbers; undefined for names without a place. */
function meshNumber(
  meshes: readonly RankName['mesh'][],
): (mesh: RankName['mesh']) => number | undefined {
  const named = MESH_ORDER.filter((name) => meshes.some((mesh) => mesh[name] !== undefined));
  // 'tp8/dp3.pickle' and 'tp8/dp4.pickle': what is the same everywhere is a size.
  const varied = named.filter((name) => new Set(meshes.map((mesh) => mesh[name])).size > 1);
  const order = varied.length > 0 ? varied : named;
  const sizes = order.map((name) => 1 + highest(meshes.map((mesh) => mesh[name] ?? 0)));
  return (mesh) =>
    order.some((name) => mesh[name] === undefined) || order.length === 0
      ? undefined
      : order.reduce((number, name, i) => number * sizes[i] + mesh[name], 0);
}

/** The moment that most ranks have a file of; of equal ones where most memory was allocated. */
function commonMoment(files: readonly NumberedFile[]): { name: string; notes: string[] } {
  const moments = [...groupBy(files, ({ moment }) => moment)].map(([name, own]) => ({
    name,
    ranks: new Set(own.map(({ rank }) => rank)).size,
    bytes: own.reduce((sum, { summary }) => sum + (summary.peak.allocatedBytes.bytes ?? 0), 0),
  }));
  const names = moments.map(({ name }) => name || 'none named');
  const [first] = moments.sort((a, b) => b.ranks - a.ranks || b.bytes - a.bytes);
  const isOne = moments.every(({ ranks }) => ranks < 2) || moments.length < 2;
  const notes = isOne
    ? []
    : [
        `The files are of ${moments.length} moments (${namesText(names)}); compared: ${first.name || 'those without a name of one'}.`,
      ];
  return { name: first?.name ?? '', notes };
}

/** Of a rank's files: the one in which it ran out of memory, else that of the moment. */
function chosenFile(
  files: readonly NumberedFile[],
  moment: string,
  problems: JobProblem[],
): NumberedFile {
  const distinct = files.filter(
    (file, i) => files.findIndex((one) => isSameSnapshot(one.summary, file.summary)) === i,
  );
  const chosen =
    distinct.find(({ summary }) => summary.ooms.some(({ wasRetried }) => !wasRetried)) ??
    distinct.find((file) => file.moment === moment) ??
    distinct[0];
  for (const { path } of distinct.filter((one) => one !== chosen && one.moment === chosen.moment)) {
    problems.push({
      code: 'two-files-of-one-rank',
      files: [chosen.path, path],
      message: `${chosen.path} and ${path} are both of rank ${chosen.rank}; the first one is shown.`,
    });
  }
  return { ...chosen, others: distinct.filter((one) => one !== chosen).map(({ path }) => path) };
}

/** A snapshot and its own summary lie in one folder after `summarize`. */
function isSameSnapshot(a: RankSummary, b: RankSummary): boolean {
  return (
    a.file.name === b.file.name &&
    a.file.bytes === b.file.bytes &&
    a.events === b.events &&
    a.startUs === b.startUs
  );
}

/** Two files that no name numbers are known by their names. */
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
