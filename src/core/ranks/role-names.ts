/** What tells roles apart, in words: the lines that only one of them has. */
import type { PipelineStages } from './pipeline.ts';
import type { RankLines } from './rank-lines.ts';

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
  return roles.map((_, i) => {
    const has = own[i].length > 0 ? `alone has ${own[i].join(' and ')}` : lacks(own, names, i);
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
  return [...first.uses]
    .filter(([line, { frame }]) => {
      const isOfAll = rest.every((one) => one.allocations.has(line));
      return frame !== null && isOfAll && !others.some((at) => ranks[at].allocations.has(line));
    })
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .slice(0, MAX_NAMED)
    .map(([, { label }]) => label);
}

function lacks(
  own: readonly (readonly string[])[],
  names: readonly string[],
  role: number,
): string {
  const missing = own.flatMap(([label], i) =>
    i === role || label === undefined ? [] : `${label} (${roleTitle(names[i])})`,
  );
  if (missing.length === 0) return 'does the same work another number of times in a step';
  const [first, ...others] = missing.slice(0, MAX_NAMED);
  return others.length === 0
    ? `has no ${first}`
    : `has neither ${first} nor ${others.join(' nor ')}`;
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
