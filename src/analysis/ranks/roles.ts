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
 * A rank that does all that the others do, and something more, has their role: that is what the report has to
 * name. It may do it more often too: rank 0 alone validates, with the lines of training. So has a rank that failed
 * early, and never came to the lines that the others went on to.
 */
import { median } from '../../base/extremes.ts';
import type { PipelineStages } from './pipeline.ts';
import type { RankLines } from './rank-lines.ts';

/** Of all lines of both: so few may differ by chance in either direction. */
const CHANCE_SHARE = 0.005;
/** Lines that one has beyond the other: with more it has another job to do. A count or a share, whichever is more. */
const FEW_LINES = 2;
const FEW_SHARE = 0.03;
const EXTRA_SHARE = 0.5;
/** Powers of two: a quarter more or fewer allocations in a step is another amount of work. */
const SAME_WORK = 0.25;
/** Of a role's ranks: more that have the same extra lines are a role of their own. */
const FEW_RANKS = 0.1;

/** Role of each rank, by position: numbered from 0 in the order of first ranks. */
export function groupRoles(ranks: readonly RankLines[]): number[] {
  const groups: number[][] = [];
  // Most ranks of a large job are equal to another one, and need not be compared with any.
  const bySignature = new Map<string, number[]>();
  ranks.forEach((lines, i) => {
    const signature = signatureOf(lines);
    const own =
      bySignature.get(signature) ??
      groups.find(([leader]) => isSame(difference(ranks[leader], lines)));
    if (own === undefined) {
      groups.push([i]);
      bySignature.set(signature, groups[groups.length - 1]);
    } else {
      own.push(i);
      bySignature.set(signature, own);
    }
  });
  const roles: number[] = [];
  mergeStragglers(groups, ranks).forEach((group, role) => {
    for (const i of group) roles[i] = role;
  });
  return roles;
}

/** The same for ranks that did just the same. */
function signatureOf({ summary, regular }: RankLines): string {
  const { keys, allocations } = summary.program;
  return `${summary.steps?.count} ${keys.join()} ${allocations.join()} ${regular.size}`;
}

/** It ended by an error, so that what it would have done next is not in its file. */
const isCutShort = ({ summary }: RankLines): boolean =>
  summary.ooms.some(({ wasRetried }) => !wasRetried);

interface Difference {
  readonly onlyA: number;
  readonly onlyB: number;
  readonly union: number;
  /** Power of two by which B allocates more often in a step, in the middle of the shared lines. */
  readonly work: number;
}

function difference(a: RankLines, b: RankLines): Difference {
  const isKnown = (key: string) =>
    (a.lastKey === undefined || key <= a.lastKey) && (b.lastKey === undefined || key <= b.lastKey);
  const ownOf = (one: RankLines, other: RankLines) =>
    [...one.regular].filter((key) => isKnown(key) && !other.allocations.has(key)).length;
  const shared = [...a.regular].filter((key) => isKnown(key) && b.allocations.has(key));
  const [onlyA, onlyB] = [ownOf(a, b), ownOf(b, a)];
  // NaN or Infinity where no steps were found: then counts cannot be compared.
  const steps = (b.summary.steps?.count ?? 0) / (a.summary.steps?.count ?? 0);
  const ratios = shared.map((key) => {
    return Math.log2((b.allocations.get(key) ?? 0) / (a.allocations.get(key) ?? 0) / steps);
  });
  const work = isCutShort(a) || isCutShort(b) ? 0 : median(ratios);
  return {
    onlyA,
    onlyB,
    union: shared.length + onlyA + onlyB,
    work: Number.isFinite(work) ? work : 0,
  };
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
function mergeStragglers(groups: readonly number[][], ranks: readonly RankLines[]): number[][] {
  // Of two ranks either may be the one that does more.
  const isPair = ranks.length === 2;
  const kept: number[][] = [];
  for (const group of groups.toSorted((a, b) => b.length - a.length)) {
    const home = kept.find(
      (role) =>
        (role.length > 1 || isPair) &&
        group.length <= Math.max(1, FEW_RANKS * role.length) &&
        (isVariant(ranks[role[0]], ranks[group[0]]) ||
          (isPair && isVariant(ranks[group[0]], ranks[role[0]]))),
    );
    if (home === undefined) kept.push([...group]);
    else home.push(...group);
  }
  return kept.map((role) => role.sort((a, b) => a - b)).sort(([a], [b]) => a - b);
}

function isVariant(ofRole: RankLines, other: RankLines): boolean {
  const { onlyA, onlyB, union } = difference(ofRole, other);
  if (isCutShort(other)) return onlyB <= byChance(union);
  return onlyA <= byChance(union) && onlyB <= EXTRA_SHARE * union;
}

/** 'A' to 'Z', then 'A2' to 'Z2' and so on. */
export function roleLetter(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letter}${Math.floor(index / 26) + 1}`;
}

/** 'role A'; 'stage 0' and 'trainer', as a layout names them, are words by themselves. */
export const roleTitle = (name: string): string =>
  /^[A-Z]\d*$/.test(name) ? `role ${name}` : name;

const MAX_NAMED = 2;

/** @param roles positions of the ranks of each role */
export function aboutRoles(
  roles: readonly (readonly number[])[],
  names: readonly string[],
  ranks: readonly RankLines[],
  pipeline: PipelineStages | undefined,
): string[] {
  if (roles.length === 1) {
    return [ranks.length === 1 ? 'the only rank' : 'all ranks do the same'];
  }
  const isNamed = names.some((name, role) => name !== roleLetter(role));
  const stages = pipeline === undefined || isNamed ? undefined : stageNames(roles);
  const own = roles.map((role) => ownLines(role, roles, ranks));
  const none = own.some((labels) => labels.length > 0)
    ? 'has no line of its own'
    : 'does the same work another number of times in a step';
  return own.map((labels, i) => {
    const has = labels.length > 0 ? `alone has ${labels.join(' and ')}` : none;
    return stages === undefined ? has : `${stages[i]}: ${has}`;
  });
}

/** The largest lines that all ranks of a role have, and no other. */
function ownLines(
  role: readonly number[],
  roles: readonly (readonly number[])[],
  ranks: readonly RankLines[],
): string[] {
  const others = roles.filter((other) => other !== role).flat();
  const [first, ...rest] = role.map((at) => ranks[at]);
  const labels = [...first.uses]
    .filter(([line, { frame }]) => {
      const isOfAll = rest.every((one) => one.allocations.has(line));
      return frame !== null && isOfAll && !others.some((at) => ranks[at].allocations.has(line));
    })
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(([, { label }]) => label);
  return [...new Set(labels)].slice(0, MAX_NAMED);
}

/** Undefined where the ranks of a role are not next to each other, as those of a stage are. */
function stageNames(roles: readonly (readonly number[])[]): string[] | undefined {
  const isRun = roles.every(([first, ...rest]) => rest.every((at, i) => at === first + i + 1));
  if (!isRun || roles.length < 2) return undefined;
  return roles.map((_, i) => {
    if (i === 0) return 'first stage';
    if (i === roles.length - 1) return 'last stage';
    return roles.length === 3 ? 'middle stages' : `stages after role ${roleLetter(i - 1)}`;
  });
}
