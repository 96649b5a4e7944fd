/** Compares two sides: what grew and what shrank. Everything adds up to the byte. */

import { getOrMake } from '../../base/memoized.ts';
import { settingText } from '../../device/memory-summary/settings.ts';
import { fileKey } from './align-files.ts';
import { alignFrames, type FrameAlignment } from './align-frames.ts';
import { causesOf } from './causes.ts';
import {
  changeKind,
  type MatchedSites,
  type MergedStacks,
  matchSites,
  mergeStacks,
} from './match-sites.ts';
import { oneSidedFunctions } from './one-sided-functions.ts';
import {
  innermostFrame,
  lineOf,
  type RunProfile,
  type SideEntry,
  type SideSite,
  type StackRun,
} from './run-profile.ts';
import type {
  CallSiteChange,
  ClassChange,
  Comparison,
  EntryChange,
  RunChange,
  RunChangeKind,
  SettingChange,
  SiteHalf,
} from './types.ts';
import { caveatsOf, verdictOf } from './verdict.ts';

export function compareSides(a: RunProfile, b: RunProfile): Comparison {
  const alignment = alignFrames(a, b);
  const merged = mergeStacks(a, b, alignment);
  const sites = matchSites(a, b, alignment, merged).map((matched) => siteChange(a, b, matched));
  sites.sort((x, y) => Math.abs(y.differenceBytes) - Math.abs(x.differenceBytes));
  const facts = {
    a,
    b,
    differenceBytes: b.counters.allocatedBytes - a.counters.allocatedBytes,
    sites,
    classes: classChanges(sites),
    settings: settingChanges(a, b),
    runChanges: runChanges(a, b, merged),
    oneSided: oneSidedFunctions(a, b, alignment),
    entries: entryChanges(a, b, alignment),
    caveats: caveatsOf(a, b),
  };
  const causes = causesOf(facts);
  const [headline, ...others] = verdictOf(facts, causes);
  return { ...facts, causes, headline, verdict: [headline, ...others].join(' ') };
}

function siteChange(
  a: RunProfile,
  b: RunProfile,
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

type Summed = 'bytes' | 'count';
const sumOf = (parts: readonly Pick<SideSite, Summed>[], column: Summed): number =>
  parts.reduce((sum, part) => sum + part[column], 0);

/** The stack with the most bytes represents the others. */
function halfOf(side: RunProfile, sites: readonly SideSite[]): SiteHalf | undefined {
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

function settingChanges(a: RunProfile, b: RunProfile): SettingChange[] {
  const names = new Set([...Object.keys(a.settings), ...Object.keys(b.settings)]);
  const textOf = ({ settings }: RunProfile, name: string) =>
    name in settings ? settingText(settings[name]) : 'not recorded';
  return Array.from(names, (name) => ({ name, a: textOf(a, name), b: textOf(b, name) })).filter(
    (setting) => setting.a !== setting.b,
  );
}

/** A side may have several entries of these kinds, one per function. */
const BY_FUNCTION: ReadonlySet<SideEntry['kind']> = new Set(['kept', 'kept-graph', 'growing']);

/** Pairs the entries of both accounts: the largest change first, unchanged ones included. */
function entryChanges(a: RunProfile, b: RunProfile, { files }: FrameAlignment): EntryChange[] {
  const pairs = new Map<string, { a: SideEntry[]; b: SideEntry[] }>();
  const pairOf = ({ kind, lines: [frame] }: SideEntry, fileOf: (file: string) => string) => {
    const isByFunction = BY_FUNCTION.has(kind) && frame !== undefined;
    const key = isByFunction ? `${kind} ${fileOf(fileKey(frame.filename))} ${frame.name}` : kind;
    return getOrMake(pairs, key, () => ({ a: [], b: [] }));
  };
  for (const entry of a.entries) pairOf(entry, (file) => file).a.push(entry);
  for (const entry of b.entries) pairOf(entry, (file) => files.get(file) ?? file).b.push(entry);
  const changes = Array.from(pairs.values(), (pair) => entryChange(pair.a, pair.b));
  return changes.sort((x, y) => Math.abs(y.differenceBytes) - Math.abs(x.differenceBytes));
}

/** The lines and the rate come from the largest entry of the side that has more. */
function entryChange(a: readonly SideEntry[], b: readonly SideEntry[]): EntryChange {
  const [bytesA, bytesB] = [sumOf(a, 'bytes'), sumOf(b, 'bytes')];
  const [{ kind, lines, rate, isGrowing }] = bytesA > bytesB ? a : b;
  return {
    ...{ kind, lines, rate: isGrowing ? rate : undefined, bytesA, bytesB },
    differenceBytes: bytesB - bytesA,
    countA: sumOf(a, 'count'),
    countB: sumOf(b, 'count'),
  };
}

const RATIO = 1.5;
/** Share of the run: changes among shorter lifetimes are not interesting. */
const NOTABLE_SHARE = 0.02;
/** Too few allocations for a rate. */
const NOTABLE_COUNT = 8;

/** Call stacks that behave differently over the whole run, those that move the most bytes first. */
function runChanges(a: RunProfile, b: RunProfile, { ofA, ofB }: MergedStacks): RunChange[] {
  const inA = new Map(
    a.runs.map((run) => [run.stack > 0 ? ofA[run.stack] : Math.min(0, run.stack), run]),
  );
  const perStep = (side: RunProfile) => Math.max(1, side.stepBounds.length - 1);
  const steps = { a: perStep(a), b: perStep(b) };
  const changes: RunChange[] = [];
  for (const run of b.runs) {
    const other = run.stack > 0 ? inA.get(ofB[run.stack]) : undefined;
    if (other === undefined) continue;
    const kinds = [...livesOf(other, run), ...churnOf(other, run, steps)];
    if (kinds.length > 0) changes.push({ kinds, frame: lineOf(b, run.stack), a: other, b: run });
  }
  const weight = (change: RunChange) => Math.max(change.a.totalBytes, change.b.totalBytes);
  return changes.sort((x, y) => weight(y) - weight(x));
}

function livesOf(a: StackRun, b: StackRun): RunChangeKind[] {
  if (isMuchMore(b.lifetimeShare, a.lifetimeShare, NOTABLE_SHARE)) return ['lives-longer'];
  return isMuchMore(a.lifetimeShare, b.lifetimeShare, NOTABLE_SHARE) ? ['lives-shorter'] : [];
}

/** Per step if both sides have steps: a run twice as long allocates twice as often. */
function churnOf(
  a: StackRun,
  b: StackRun,
  steps: { readonly a: number; readonly b: number },
): RunChangeKind[] {
  const isPerStep = steps.a > 1 && steps.b > 1;
  const rateA = a.allocations / (isPerStep ? steps.a : 1);
  const rateB = b.allocations / (isPerStep ? steps.b : 1);
  const least = isPerStep ? 1 : NOTABLE_COUNT;
  if (isMuchMore(rateB, rateA, least)) return ['churns-more'];
  return isMuchMore(rateA, rateB, least) ? ['churns-less'] : [];
}

const isMuchMore = (more: number, less: number, least: number): boolean =>
  more >= RATIO * less && more - less >= least;
