/** Something that one side keeps with every step and the other does not: a leak, or a cache that grows. */
import { formatBytes, plural } from '../base/format.ts';
import { changedLines, joinWithAnd, lineText } from './change-text.ts';
import { type ComparisonSide, MOMENTS, type SideFrame, type StackRun } from './side.ts';
import type { CallSiteChange, ComparisonFacts } from './types.ts';

/** A smaller part of the difference is no cause of it. */
const NOTABLE_SHARE = 0.1;
/** Fewer live allocations at the end are no growth. */
const MIN_LIVE = 4;

export function growthPattern(facts: ComparisonFacts): string[] {
  return [...growthOf(facts, 'b'), ...growthOf(facts, 'a')];
}

function growthOf({ a, b, sites, differenceBytes }: ComparisonFacts, side: 'a' | 'b'): string[] {
  const sign = side === 'b' ? 1 : -1;
  const [own, other] = side === 'b' ? [b, a] : [a, b];
  const growing = sites.filter((site) => {
    const [half, otherHalf] = side === 'b' ? [site.b, site.a] : [site.a, site.b];
    return (
      Math.sign(site.differenceBytes) === sign &&
      grows(runOf(own, half?.stacks ?? [])) &&
      !grows(runOf(other, otherHalf?.stacks ?? []))
    );
  });
  const bytes = growing.reduce((sum, site) => sum + Math.abs(site.differenceBytes), 0);
  if (bytes < Math.max(2 ** 20, NOTABLE_SHARE * Math.abs(differenceBytes))) return [];
  const steps = own.stepBounds.length - 1;
  const count = growing.reduce((sum, site) => sum + liveCount(site, side), 0);
  const perStep = steps > 1 ? `, about ${formatBytes(bytes / steps)} a step` : '';
  const name = side.toUpperCase();
  return [
    `${name} keeps more and more at ${changedLines(growing)}${callersText(own, growing, side)} (${plural(count, 'live allocation')} of ${formatBytes(bytes)} more${perStep}), which ${name === 'A' ? 'B' : 'A'} does not: a leak, or a cache that grows.`,
  ];
}

/** ', called from train.py:67': what is made in a model is kept by who calls it. */
function callersText(
  own: ComparisonSide,
  growing: readonly CallSiteChange[],
  side: 'a' | 'b',
): string {
  const callers = new Set<string>();
  for (const site of growing) {
    const half = side === 'b' ? site.b : site.a;
    const caller = half && modelCaller(own, half.stacks[0] ?? 0);
    if (caller !== undefined && caller !== half?.frame) callers.add(lineText(caller));
  }
  const [first, ...others] = callers;
  return first === undefined || others.length > 1
    ? ''
    : `, called from ${joinWithAnd([first, ...others])}`;
}

const MODULE_CALL = /[\\/]torch[\\/]nn[\\/]modules[\\/]module\.py$/;

/** The user's line that calls the model: the first one outside of the outermost module. */
function modelCaller({ frames, stacks }: ComparisonSide, stack: number): SideFrame | undefined {
  let found: SideFrame | undefined;
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = frames[stacks.frame[row]];
    if (MODULE_CALL.test(frame.filename)) found = undefined;
    else if (frame.kind === 'user') found ??= frame;
  }
  return found;
}

const liveCount = ({ countA, countB }: CallSiteChange, side: 'a' | 'b'): number =>
  side === 'b' ? countB : countA;

/** Live allocations of these stacks at each moment of the run. */
function runOf({ runs }: ComparisonSide, stacks: readonly number[]): readonly number[] {
  const wanted = new Set(stacks.filter((stack) => stack >= 0));
  const own = runs.filter(({ stack }: StackRun) => wanted.has(stack));
  return Array.from({ length: MOMENTS }, (_, at) =>
    own.reduce((sum, { liveAt }) => sum + (liveAt[at] ?? 0), 0),
  );
}

/** Rises from moment to moment to the last: what a step needs comes and goes. */
function grows(live: readonly number[]): boolean {
  const last = live[MOMENTS - 1] ?? 0;
  const middle = live[MOMENTS / 2 - 1] ?? 0;
  const rises = live.filter((count, i) => i > 0 && count > (live[i - 1] ?? 0)).length;
  const falls = live.filter((count, i) => i > 0 && count < (live[i - 1] ?? 0)).length;
  return last >= MIN_LIVE && last >= 1.3 * middle && rises >= MOMENTS / 2 && falls <= 1;
}
