/** Two sides in one table: what grew, what shrank, and that it all adds up to the byte. */
import { settingText } from '../../device/memory-summary/settings.ts';
import { alignFrames } from './align-frames.ts';
import { causesOf } from './causes.ts';
import { caveatsOf } from './caveats.ts';
import { changeKind } from './change-kind.ts';
import { entryChanges } from './entry-changes.ts';
import { type MatchedSites, matchSites, mergeStacks } from './match-sites.ts';
import { onlyCode } from './only-code.ts';
import { runChanges } from './run-changes.ts';
import { type ComparisonSide, innermostFrame, lineOf, type SideSite } from './side.ts';
import type { CallSiteChange, ClassChange, Comparison, SettingChange, SiteHalf } from './types.ts';
import { verdictOf } from './verdict.ts';

export function compareSides(a: ComparisonSide, b: ComparisonSide): Comparison {
  const alignment = alignFrames(a, b);
  const merged = mergeStacks(a, b, alignment);
  const sites = matchSites(a, b, alignment, merged).map((matched) => changeOf(a, b, matched));
  sites.sort((x, y) => Math.abs(y.differenceBytes) - Math.abs(x.differenceBytes));
  const facts = {
    a,
    b,
    differenceBytes: b.counters.allocatedBytes - a.counters.allocatedBytes,
    sites,
    classes: classChanges(sites),
    settings: settingChanges(a, b),
    runChanges: runChanges(a, b, merged),
    onlyCode: onlyCode(a, b, alignment),
    entries: entryChanges(a, b, alignment),
    caveats: caveatsOf(a, b),
  };
  const causes = causesOf(facts);
  const [headline, ...others] = verdictOf(facts, causes);
  return { ...facts, causes, headline, verdict: [headline, ...others].join(' ') };
}

function changeOf(
  a: ComparisonSide,
  b: ComparisonSide,
  { a: sitesA, b: sitesB }: MatchedSites,
): CallSiteChange {
  const [bytesA, bytesB] = [sumOf(sitesA, 'bytes'), sumOf(sitesB, 'bytes')];
  const className = (sitesA[0] ?? sitesB[0]).class;
  return {
    kind: changeKind(sitesA, sitesB),
    class: className,
    a: halfOf(a, sitesA),
    b: halfOf(b, sitesB),
    bytesA,
    bytesB,
    differenceBytes: bytesB - bytesA,
    countA: sumOf(sitesA, 'count'),
    countB: sumOf(sitesB, 'count'),
    sizesA: sitesA.flatMap(({ sizes }) => sizes),
    sizesB: sitesB.flatMap(({ sizes }) => sizes),
  };
}

const sumOf = (sites: readonly SideSite[], column: 'bytes' | 'count'): number =>
  sites.reduce((sum, site) => sum + site[column], 0);

/** Of several stacks the one that holds most stands for all. */
function halfOf(side: ComparisonSide, sites: readonly SideSite[]): SiteHalf | undefined {
  if (sites.length === 0) return undefined;
  const sorted = [...sites].sort((x, y) => y.bytes - x.bytes);
  const [{ stack, example }] = sorted;
  return {
    frame: lineOf(side, stack),
    innermost: innermostFrame(side, stack),
    stacks: sorted.map((site) => site.stack),
    example,
  };
}

function classChanges(sites: readonly CallSiteChange[]): ClassChange[] {
  const classes = new Map<string, { class: string; bytesA: number; bytesB: number }>();
  for (const site of sites) {
    const sum = classes.get(site.class) ?? { class: site.class, bytesA: 0, bytesB: 0 };
    classes.set(site.class, sum);
    sum.bytesA += site.bytesA;
    sum.bytesB += site.bytesB;
  }
  const changeOf = ({ bytesA, bytesB }: ClassChange) => Math.abs(bytesB - bytesA);
  return [...classes.values()].sort((x, y) => changeOf(y) - changeOf(x) || y.bytesB - x.bytesB);
}

function settingChanges(a: ComparisonSide, b: ComparisonSide): SettingChange[] {
  const names = new Set([...Object.keys(a.settings), ...Object.keys(b.settings)]);
  const textOf = ({ settings }: ComparisonSide, name: string) =>
    name in settings ? settingText(settings[name]) : 'not recorded';
  return Array.from(names, (name) => ({ name, a: textOf(a, name), b: textOf(b, name) })).filter(
    (setting) => setting.a !== setting.b,
  );
}
