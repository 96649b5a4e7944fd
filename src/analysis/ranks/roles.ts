/**
 * Which ranks do the same work, so that a pipeline's first stage is not called an outlier of the second.
 *
 * Two ranks have the same role if the same lines allocate on both, equally often per step. In a pipeline each stage has
 * a line that its neighbor lacks, in both directions:
 *
 *     rank 0   embed()            block()  send()          first
 *     rank 1            recv()    block()  send()          middle
 *     rank 2            recv()    block()  send()
 *     rank 3            recv()    block()          loss()  last
 *
 * A rank that does everything the others do, and more, has their role: the report has to name it. It may also do it
 * more often: only rank 0 validates, with the lines of training. A rank that failed early has their role too: it never
 * reached the lines that the others went on to.
 */
import { getOrMake, groupBy } from '../../base/collections.ts';
import { median } from '../../base/extremes.ts';
import type { Layout, Member } from './number-files.ts';
import type { PipelineStages } from './pipeline.ts';
import type { RankLines } from './rank-lines.ts';

/** Share of both ranks' lines that may differ by chance in either direction. */
const CHANCE_SHARE = 0.005;
/** With more extra lines than this, a rank has a different job. The count or the share, whichever is more. */
const FEW_LINES = 2;
const FEW_SHARE = 0.03;
const EXTRA_SHARE = 0.5;
/** As a power of two: about a fifth more or fewer allocations per step is a different amount of work. */
const SAME_WORK = 0.25;
/** Share of a role's ranks: if more have the same extra lines, they are a separate role. */
const FEW_RANKS = 0.1;

export interface RoleMembers {
  /** 'A', 'B', … in order of first rank, or a layout's names. */
  readonly name: string;
  readonly members: readonly Member[];
}

/** In order of first rank. */
export function rolesOf(ranks: readonly Member[], layout: Layout | undefined): RoleMembers[] {
  if (layout === undefined)
    return rolesByCode(ranks).map((members, i) => ({ name: roleLetter(i), members }));
  const byName = groupBy(ranks, ({ rank }) => layout.roleOf(rank) ?? 'not in the layout');
  return Array.from(byName, ([name, members]) => ({ name, members }));
}

function rolesByCode(ranks: readonly Member[]): Member[][] {
  const groups: Member[][] = [];
  // Most ranks of a large job equal another one and need no comparison.
  const bySignature = new Map<string, Member[]>();
  for (const one of ranks) {
    const group = getOrMake(bySignature, signatureOf(one.lines), () => {
      const same = groups.find(([leader]) => isSame(difference(leader.lines, one.lines)));
      return same ?? groups[groups.push([]) - 1];
    });
    group.push(one);
  }
  return mergeStragglers(groups, ranks.length === 2);
}

/** Equal for ranks that did exactly the same. */
function signatureOf({ summary, regular }: RankLines): string {
  const { keys, allocations } = summary.program;
  return `${summary.steps?.count} ${keys.join()} ${allocations.join()} ${regular.size}`;
}

/** The numbers of lines that one rank has alone, of all lines, and the amount of work. */
function difference(a: RankLines, b: RankLines) {
  const isKnown = (key: string) => a.knows(key) && b.knows(key);
  const ownOf = (one: RankLines, other: RankLines) =>
    [...one.regular].filter((key) => isKnown(key) && !other.allocations.has(key)).length;
  const shared = [...a.regular].filter((key) => isKnown(key) && b.allocations.has(key));
  const [onlyA, onlyB] = [ownOf(a, b), ownOf(b, a)];
  // NaN or Infinity if no steps were found: then counts can't be compared.
  const steps = (b.summary.steps?.count ?? 0) / (a.summary.steps?.count ?? 0);
  const timesOf = (key: string) => (b.allocations.get(key) ?? 0) / (a.allocations.get(key) ?? 0);
  const work = median(shared.map((key) => Math.log2(timesOf(key) / steps)));
  const isComparable = Number.isFinite(work) && !a.isCutShort && !b.isCutShort;
  return {
    onlyA,
    onlyB,
    union: shared.length + onlyA + onlyB,
    /** Power of two by which B allocates more often per step: the median over shared lines. */
    work: isComparable ? work : 0,
  };
}

const byChance = (union: number): number => Math.floor(CHANCE_SHARE * union);

const isSame = ({ onlyA, onlyB, union, work }: ReturnType<typeof difference>): boolean =>
  Math.min(onlyA, onlyB) <= byChance(union) &&
  Math.max(onlyA, onlyB) <= Math.max(FEW_LINES, FEW_SHARE * union) &&
  Math.abs(work) < SAME_WORK;

/**
 * A few ranks that do a role's work plus something more, or that were cut short, join that role. Of two ranks
 * (`isPair`), either may be the one that does more.
 */
function mergeStragglers(groups: readonly Member[][], isPair: boolean): Member[][] {
  const kept: Member[][] = [];
  for (const group of groups.toSorted((a, b) => b.length - a.length)) {
    const [{ lines }] = group;
    const home = kept.find(
      (role) =>
        (role.length > 1 || isPair) &&
        group.length <= Math.max(1, FEW_RANKS * role.length) &&
        (isVariant(role[0].lines, lines) || (isPair && isVariant(lines, role[0].lines))),
    );
    if (home === undefined) kept.push([...group]);
    else home.push(...group);
  }
  return kept
    .map((role) => role.sort((a, b) => a.rank - b.rank))
    .sort(([a], [b]) => a.rank - b.rank);
}

function isVariant(ofRole: RankLines, other: RankLines): boolean {
  const { onlyA, onlyB, union } = difference(ofRole, other);
  if (other.isCutShort) return onlyB <= byChance(union);
  return onlyA <= byChance(union) && onlyB <= EXTRA_SHARE * union;
}

/** 'A' to 'Z', then 'A2' to 'Z2' and so on. */
function roleLetter(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letter}${Math.floor(index / 26) + 1}`;
}

const MAX_NAMED = 2;

/** How each role differs from the others, as a phrase. */
export function aboutRoles(
  roles: readonly RoleMembers[],
  pipeline: PipelineStages | undefined,
): string[] {
  if (roles.length === 1)
    return [roles[0].members.length === 1 ? 'the only rank' : 'all ranks do the same'];
  const isNamed = roles.some(({ name }, i) => name !== roleLetter(i));
  const stages = pipeline === undefined || isNamed ? undefined : stageNames(roles);
  const own = roles.map((role) => ownLines(role, roles));
  const none = own.some((labels) => labels.length > 0)
    ? 'has no line of its own'
    : 'does the same work a different number of times per step';
  return own.map((labels, i) => {
    const has = labels.length > 0 ? `alone has ${labels.join(' and ')}` : none;
    return stages === undefined ? has : `${stages[i]}: ${has}`;
  });
}

/** The largest lines that all ranks of this role have and no other rank has. */
function ownLines(role: RoleMembers, roles: readonly RoleMembers[]): string[] {
  const others = roles.filter((one) => one !== role).flatMap(({ members }) => members);
  const [first, ...rest] = role.members;
  const has = (line: string) => (one: Member) => one.lines.allocations.has(line);
  const labels = [...first.lines.uses]
    .filter(
      ([line, { frame }]) => frame !== null && rest.every(has(line)) && !others.some(has(line)),
    )
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(([, { label }]) => label);
  return [...new Set(labels)].slice(0, MAX_NAMED);
}

/** Undefined unless each role's ranks are adjacent, as a stage's are. */
function stageNames(roles: readonly RoleMembers[]): string[] | undefined {
  const inOrder = roles.flatMap(({ members }) => members.map(({ rank }) => rank));
  if (inOrder.some((rank, i) => i > 0 && rank <= inOrder[i - 1])) return undefined;
  return roles.map((_, i) => {
    if (i === 0) return 'first stage';
    if (i === roles.length - 1) return 'last stage';
    return roles.length === 3 ? 'middle stages' : `stages after role ${roleLetter(i - 1)}`;
  });
}
