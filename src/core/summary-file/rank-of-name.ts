/** The rank that a file's or folder's name says. */

/** What common tools write: rank3, rank_00003, rank-3, r3, _3_ of a host's GPU 3 is none. */
const RANK = /(?:^|[^a-z])(?:global[-_.]?)?(?:rank|r)[-_.=]?(\d{1,6})(?![0-9a-z])/gi;

/**
 * 3 of 'rank3.pickle', 'rank_00003.pkl.gz', 'mem-r3.pickle' and 'step_100/rank3/snapshot.pickle'; the last one
 * where there are several. Undefined where a name says none.
 * `pattern`: has a group `rank`, or one group, or is itself the number.
 */
export function rankOfName(path: string, pattern?: RegExp): number | undefined {
  if (pattern !== undefined) {
    const match = pattern.exec(path);
    return wholeNumber(match?.groups?.rank ?? match?.[1] ?? match?.[0]);
  }
  return wholeNumber([...path.matchAll(RANK)].at(-1)?.[1]);
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

const SUMMARY_NAME = /\.vramscope\.json(\.gz)?$/i;
const SNAPSHOT_NAME = /\.(pickle|pkl|pt|gz|zip|zst|html)$/i;
/** Compressed, and no snapshot: 'rank0.log.gz'. */
const OTHER_NAME = /\.(log|txt|csv|tar|json|jsonl|npz|out|err)(\.(gz|zip|zst))?$/i;

/** A file of a folder that is worth reading, by its name: hidden ones are not. */
export function isRankFile(name: string): boolean {
  if (name.startsWith('.')) return false;
  return isSummaryName(name) || (SNAPSHOT_NAME.test(name) && !OTHER_NAME.test(name));
}

export const isSummaryName = (name: string): boolean => SUMMARY_NAME.test(name);
