/**
 * Which ranks do the same, so that the first stage of a pipeline is not called an outlier of the second.
 *
 * Two ranks have one role when the same lines allocate on both, and as often in a step. In a pipeline each
 * stage has a line that its neighbor lacks, in both directions:
 *
 *     rank 0   embed()            block()  send()          first
 *     rank 1            recv()    block()  send()          middle
 *     rank 2            recv()    block()  send()
 *     rank 3            recv()    block()          loss()  last
 *
 * A rank that does all that the others do, and one line more, has their role: that line is what
 * the report has to name. So has a rank that failed early, and never came to the lines that the others went on to.
 */
import type { RankLines } from './rank-lines.ts';
import { median } from './robust.ts';

/** Of all lines of both: so few may differ by chance in either direction. */
const CHANCE_SHARE = 0.005;
/** Lines that one has beyond the other: with more it has another job to do. A count or a share, whichever is more. */
const FEW_LINES = 2;
const FEW_SHARE = 0.03;
const EXTRA_SHARE = 0.25;
/** Powers of two: a quarter more or fewer allocations in a step is another amount of work. */
const SAME_WORK = 0.25;
/** Of a role's ranks: more that have the same extra lines are a role of their own. */
const FEW_RANKS = 0.1;

/** Role of each rank, by position: numbered from 0 in the order of first ranks. */
export function groupRoles(ranks: readonly RankLines[]): number[] {
  const profiles = ranks.map((lines) => new Profile(lines));
  const groups: number[][] = [];
  // Most ranks of a large job are equal to another one, and need not be compared with any.
  const bySignature = new Map<string, number[]>();
  profiles.forEach((profile, i) => {
    const own =
      bySignature.get(profile.signature) ??
      groups.find(([leader]) => isSame(difference(profiles[leader], profile)));
    const group = own ?? [];
    if (own === undefined) groups.push(group);
    group.push(i);
    bySignature.set(profile.signature, group);
  });
  const merged = mergeStragglers(groups, profiles).sort(([a], [b]) => a - b);
  const roles: number[] = [];
  merged.forEach((group, role) => {
    for (const i of group) roles[i] = role;
  });
  return roles;
}

class Profile {
  /** The same for ranks that did just the same. */
  readonly signature: string;
  readonly all: ReadonlyMap<string, number>;
  readonly regular: ReadonlySet<string>;
  readonly lastKey: string | undefined;
  /** Undefined where no steps were found: then counts cannot be compared. */
  readonly steps: number | undefined;
  /** It ended by an error, so that what it would have done next is not in its file. */
  readonly isCutShort: boolean;

  constructor(lines: RankLines) {
    const { steps, ooms } = lines.summary;
    this.all = lines.allocations;
    this.regular = lines.regular;
    const { keys, allocations } = lines.summary.program;
    this.signature = `${steps?.count} ${keys.join()} ${allocations.join()} ${this.regular.size}`;
    this.lastKey = lines.lastKey;
    this.steps = steps === null || steps.count === 0 ? undefined : steps.count;
    this.isCutShort = ooms.some(({ wasRetried }) => !wasRetried);
  }
}

interface Difference {
  readonly onlyA: number;
  readonly onlyB: number;
  readonly union: number;
  /** Power of two by which B allocates more often in a step, in the middle of the shared lines. */
  readonly work: number;
}

function difference(a: Profile, b: Profile): Difference {
  const isKnown = (key: string) =>
    (a.lastKey === undefined || key <= a.lastKey) && (b.lastKey === undefined || key <= b.lastKey);
  let onlyA = 0;
  let onlyB = 0;
  let shared = 0;
  const ratios: number[] = [];
  const steps = a.steps === undefined || b.steps === undefined ? undefined : b.steps / a.steps;
  for (const key of a.regular) {
    if (!isKnown(key)) continue;
    const inB = b.all.get(key);
    if (inB === undefined) {
      onlyA++;
      continue;
    }
    shared++;
    if (steps !== undefined) ratios.push(Math.log2(inB / (a.all.get(key) ?? 1) / steps));
  }
  for (const key of b.regular) if (isKnown(key) && !a.all.has(key)) onlyB++;
  const isComparable = !a.isCutShort && !b.isCutShort && ratios.length > 0;
  const work = isComparable ? median(ratios) : 0;
  return { onlyA, onlyB, union: shared + onlyA + onlyB, work };
}

const byChance = (union: number): number => Math.floor(CHANCE_SHARE * union);

function isSame({ onlyA, onlyB, union, work }: Difference): boolean {
  return (
    Math.min(onlyA, onlyB) <= byChance(union) &&
    Math.max(onlyA, onlyB) <= Math.max(FEW_LINES, FEW_SHARE * union) &&
    Math.abs(work) < SAME_WORK
  );
}

/** Single ranks that do what a role does and something more, or that were cut short, join that role. */
function mergeStragglers(groups: readonly number[][], profiles: readonly Profile[]): number[][] {
  const bySize = groups.toSorted((a, b) => b.length - a.length);
  const kept: number[][] = [];
  for (const group of bySize) {
    const [first] = group;
    const home = kept.find(
      (role) =>
        group.length <= Math.max(1, FEW_RANKS * role.length) &&
        isVariant(difference(profiles[role[0]], profiles[first]), profiles[first].isCutShort) &&
        role.length > 1,
    );
    if (home === undefined) kept.push([...group]);
    else home.push(...group);
  }
  return kept.map((role) => role.sort((a, b) => a - b));
}

/** B beside A, which is the role. */
function isVariant({ onlyA, onlyB, union, work }: Difference, isCutShort: boolean): boolean {
  if (isCutShort) return onlyB <= byChance(union);
  return onlyA === 0 && onlyB <= EXTRA_SHARE * union && Math.abs(work) < SAME_WORK;
}
