/**
 * What file and folder names say about a rank: its number, its place in the device mesh, and when it was recorded.
 *
 *   step_10/rank3/snapshot.pickle              rank 3, step 10
 *   torch_memory_rank3_pid81.pickle (verl)     rank 3
 *   1718.5-TP-1-memory-EXTEND.pickle (SGLang)  tp 1, EXTEND
 *   oom_1718000000/torch_memory_rank3_pid81.pickle (verl)   rank 3, oom 1718000000
 *   oom_rank3.pickle (lmms-engine)             rank 3, oom
 */

export interface RankName {
  readonly rank: number | undefined;
  /** Such as `{ tp: 1, pp: 0 }`. */
  readonly mesh: Readonly<Record<string, number>>;
  /** 'EXTEND', 'step 10', 'oom', or ''. Files of one rank with different moments are not duplicates. */
  readonly moment: string;
}

/** rank3, rank_00003, rank-3, r3; but not _3_ (a host's GPU 3) or a folder called x1r3. */
const RANK = /(?<![a-z])(?:(?:global[-_.]?)?rank|(?<![0-9])r)[-_.=]?(\d{1,6})(?![0-9a-z])/gi;
/** TP-1, pp0, tp_rank_01. */
const MESH = /(?<![a-z0-9])([tpdecm]p)[-_.=]?(?:rank[-_.=]?)?(\d{1,6})(?![0-9a-z])/gi;
const STAGE = /(?<![a-z])(extend|decode|prefill)(?![a-z])/i;
const STEP = /(?<![a-z])(?:step|iteration|iter|epoch)[-_.=]?(\d{1,9})(?![0-9a-z])/i;
/** With the time of one that has its own folder: a rank may have several. */
const OOM = /(?<![a-z])oom(?:[-_.](\d{4,}[-_.\d]*)(?=\/))?(?![a-z])/i;

/** If there are several ranks, the last counts: folders come first. */
export function rankName(path: string): RankName {
  const mesh = [...path.matchAll(MESH)].map(([, name, at]) => [name.toLowerCase(), Number(at)]);
  const rank = [...path.replace(MESH, ' ').matchAll(RANK)].at(-1)?.[1];
  const step = STEP.exec(path)?.[1];
  const oom = OOM.exec(path);
  const moment = [
    oom === null ? '' : ['oom', ...oom.slice(1).filter(Boolean)].join(' '),
    step === undefined ? '' : `step ${Number(step)}`,
    STAGE.exec(path)?.[1].toUpperCase() ?? '',
  ];
  return {
    rank: rank === undefined ? undefined : Number(rank),
    mesh: Object.fromEntries(mesh),
    moment: moment.filter((part) => part !== '').join(', '),
  };
}

/**
 * The rank in a name, or else its only mesh coordinate.
 * `pattern`: has a group `rank`, or one group, or matches the number itself.
 */
export function rankOfName(path: string, pattern?: RegExp): number | undefined {
  if (pattern !== undefined) {
    const match = pattern.exec(path);
    const text = match?.groups?.rank ?? match?.[1] ?? match?.[0] ?? '';
    return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
  }
  const { rank, mesh } = rankName(path);
  const [place, ...more] = Object.values(mesh);
  return rank ?? (more.length === 0 ? place : undefined);
}

/** Whether each of the names has a rank, and each its own: they look like files of one job. */
export function haveOwnRanks(names: readonly string[]): boolean {
  const ranks = names.map((name) => rankOfName(name));
  return !ranks.includes(undefined) && new Set(ranks).size === names.length;
}

const SUMMARY_NAME = /\.vramscope\.json(\.gz)?$/i;
const SNAPSHOT_NAME = /\.(pickle|pkl|pt|gz|zip|zst|html)$/i;
/** Possibly compressed, but never a snapshot: 'rank0.log.gz'. */
const OTHER_NAME = /\.(log|txt|csv|tar|json|jsonl|npz|out|err)(\.(gz|zip|zst))?$/i;

/** Whether a folder's file is worth reading, by its name. Hidden files are not. */
export function isRankFile(name: string): boolean {
  if (name.startsWith('.')) return false;
  return isSummaryName(name) || (SNAPSHOT_NAME.test(name) && !OTHER_NAME.test(name));
}

export const isSummaryName = (name: string): boolean => SUMMARY_NAME.test(name);
