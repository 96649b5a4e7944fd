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
import { median } from '../../base/extremes.ts';
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

/** Each rank's role, by position: numbered from 0 in order of first rank. */
export function groupRoles(ranks: readonly RankLines[]): number[] {
  const groups: number[][] = [];
  // Most ranks of a large job equal another one and need no comparison.
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

/** Equal for ranks that did exactly the same. */
function signatureOf({ summary, regular }: RankLines): string {
  const { keys, allocations } = summary.program;
  return `${summary.steps?.count} ${keys.join()} ${allocations.join()} ${regular.size}`;
}

/** It ended with an error, so its file lacks what it would have done next. */
const isCutShort = ({ summary }: RankLines): boolean =>
  summary.ooms.some(({ wasRetried }) => !wasRetried);

interface Difference {
  readonly onlyA: number;
  readonly onlyB: number;
  readonly union: number;
  /** Power of two by which B allocates more often per step: the median over shared lines. */
  readonly work: number;
}

function difference(a: RankLines, b: RankLines): Difference {
  const isKnown = (key: string) =>
    (a.lastKey === undefined || key <= a.lastKey) && (b.lastKey === undefined || key <= b.lastKey);
  const ownOf = (one: RankLines, other: RankLines) =>
    [...one.regular].filter((key) => isKnown(key) && !other.allocations.has(key)).length;
  const shared = [...a.regular].filter((key) => isKnown(key) && b.allocations.has(key));
  const [onlyA, onlyB] = [ownOf(a, b), ownOf(b, a)];
  // NaN or Infinity if no steps were found: then counts can't be compared.
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

/** A few ranks that do a role's work plus something more, or that were cut short, join that role. */
function mergeStragglers(groups: readonly number[][], ranks: readonly RankLines[]): number[][] {
  // Of two ranks, either may be the one that does more.
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

/** 'role A'; a layout's names, such as 'stage 0' and 'trainer', need no prefix. */
export const roleTitle = (name: string): string =>
  /^[A-Z]\d*$/.test(name) ? `role ${name}` : name;

const MAX_NAMED = 2;

/** @param roles positions of each role's ranks */
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

/** The largest lines that all ranks of this role have and no other rank has. */
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

/** Undefined unless each role's ranks are adjacent, as a stage's are. */
function stageNames(roles: readonly (readonly number[])[]): string[] | undefined {
  const isRun = roles.every(([first, ...rest]) => rest.every((at, i) => at === first + i + 1));
  if (!isRun || roles.length < 2) return undefined;
  return roles.map((_, i) => {
    if (i === 0) return 'first stage';
    if (i === roles.length - 1) return 'last stage';
    return roles.length === 3 ? 'middle stages' : `stages after role ${roleLetter(i - 1)}`;
  });
}
