/** Compares two sides: what grew and what shrank. Everything adds up to the byte. */

import { getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { settingText } from '../../device/memory-summary/settings.ts';
import { alignFrames, type FrameAlignment, fileKey } from './align-frames.ts';
import { cardChanges, cardTexts } from './card-changes.ts';
import { causesOf } from './causes.ts';
import { lineOf } from './change-text.ts';
import { changeOf, type MergedStacks, matchSites, mergeStacks, siteChange } from './match-sites.ts';
import { oneSidedFunctions } from './program-features.ts';
import type { CallSiteChange, RunChangeKind, RunProfile, SideEntry } from './types.ts';
import { caveatsOf, verdictOf } from './verdict.ts';

export function compareSides(a: RunProfile, b: RunProfile) {
  const facts = factsOf(a, b);
  /** Why entries differ, the largest explanation first; each entry that differs is in exactly one. */
  const causes = causesOf(facts);
  const [headline, ...others] = verdictOf(facts, causes);
  const outside = cardTexts(b, facts.card);
  /** `headline`: the start of the verdict, with the amount and its main cause. */
  return { ...facts, causes, headline, verdict: [headline, ...others, ...outside].join(' ') };
}

export function factsOf(a: RunProfile, b: RunProfile) {
  const alignment = alignFrames(a, b);
  const merged = mergeStacks(a, b, alignment);
  const sites = matchSites(a, b, alignment, merged).map((matched) => siteChange(a, b, matched));
  return {
    a,
    b,
    /** Allocated bytes of B minus those of A, at the chosen events: the sum of sites, classes, entries and causes. */
    differenceBytes: b.counters.allocatedBytes - a.counters.allocatedBytes,
    /** All sites of both sides: the largest change first, unchanged ones last. */
    sites: sites.sort(byChange),
    classes: classChanges(sites),
    settings: settingChanges(a, b),
    runChanges: runChanges(a, b, merged),
    /** Lines that allocate in user functions that only this side has, the largest first. */
    oneSided: oneSidedFunctions(a, b, alignment),
    /** Both accounts' entries, the largest change first, unchanged ones included. */
    entries: entryChanges(a, b, alignment).sort(byChange),
    /** Who holds the cards; empty unless both files have a ledger. */
    card: cardChanges(a, b),
    /** Limits of the comparison, in sentences: different devices, no history, the same file. */
    caveats: caveatsOf(a, b),
  };
}

const byChange = (x: { differenceBytes: number }, y: { differenceBytes: number }): number =>
  Math.abs(y.differenceBytes) - Math.abs(x.differenceBytes);

function classChanges(sites: readonly CallSiteChange[]) {
  const classes = Array.from(
    groupBy(sites, ({ class: own }) => own),
    ([own, same]) => ({
      class: own,
      bytesA: sumBy(same, ({ bytesA }) => bytesA),
      bytesB: sumBy(same, ({ bytesB }) => bytesB),
    }),
  );
  const sizeOf = ({ bytesA, bytesB }: (typeof classes)[number]) => Math.abs(bytesB - bytesA);
  return classes.sort((x, y) => sizeOf(y) - sizeOf(x) || y.bytesB - x.bytesB);
}

/** 'not recorded' if a file lacks the setting. */
function settingChanges(a: RunProfile, b: RunProfile) {
  const names = new Set([...Object.keys(a.settings), ...Object.keys(b.settings)]);
  const textOf = ({ settings }: RunProfile, name: string) =>
    name in settings ? settingText(settings[name]) : 'not recorded';
  return Array.from(names, (name) => ({ name, a: textOf(a, name), b: textOf(b, name) })).filter(
    (setting) => setting.a !== setting.b,
  );
}

/** A side may have several entries of these kinds, one per function. */
const BY_FUNCTION: ReadonlySet<SideEntry['kind']> = new Set(['kept', 'kept-graph', 'growing']);

/** Pairs the entries of both accounts: of the same kind and, for kept memory, of the same function. */
function entryChanges(a: RunProfile, b: RunProfile, { files }: FrameAlignment) {
  const pairs = new Map<string, { a: SideEntry[]; b: SideEntry[] }>();
  const pairOf = ({ kind, lines: [frame] }: SideEntry, fileOf: (file: string) => string) => {
    const isByFunction = BY_FUNCTION.has(kind) && frame !== undefined;
    const key = isByFunction ? `${kind} ${fileOf(fileKey(frame.filename))} ${frame.name}` : kind;
    return getOrMake(pairs, key, () => ({ a: [], b: [] }));
  };
  for (const entry of a.entries) pairOf(entry, (file) => file).a.push(entry);
  for (const entry of b.entries) pairOf(entry, (file) => files.get(file) ?? file).b.push(entry);
  return Array.from(pairs.values(), (pair) => {
    const sums = changeOf(pair.a, pair.b);
    // The lines and the rate come from the largest entry of the side that has more; entries of 0 bytes may have one side.
    const isMoreInA = pair.b.length === 0 || sums.bytesA > sums.bytesB;
    const [{ kind, lines, rate, isGrowing }] = isMoreInA ? pair.a : pair.b;
    return { kind, lines, rate: isGrowing ? rate : undefined, ...sums };
  });
}

const RATIO = 1.5;
/** Share of the run: changes among shorter lifetimes are not interesting. */
const NOTABLE_SHARE = 0.02;
/** Too few allocations for a rate. */
const NOTABLE_COUNT = 8;

/** Call stacks of both sides that behave differently over the whole run, those that move the most bytes first. */
function runChanges(a: RunProfile, b: RunProfile, { ofA, ofB }: MergedStacks) {
  const inA = new Map(a.runs.map((run) => [run.stack > 0 ? ofA[run.stack] : 0, run]));
  const changes = b.runs.flatMap((run) => {
    const other = run.stack > 0 ? inA.get(ofB[run.stack]) : undefined;
    return (other && runChangeOf(a, b, other, run)) ?? [];
  });
  const weight = (change: (typeof changes)[number]) =>
    Math.max(change.a.totalBytes, change.b.totalBytes);
  return changes.sort((x, y) => weight(y) - weight(x));
}

type Run = RunProfile['runs'][number];

export function runChangeOf(sideA: RunProfile, sideB: RunProfile, a: Run, b: Run) {
  const [stepsA, stepsB] = [sideA, sideB].map(({ stepBounds }) => stepBounds.length - 1);
  const isMore = (x: number, y: number, least: number) => x >= RATIO * y && x - y >= least;
  const changed = (before: number, after: number, least: number, kinds: RunChangeKind[]) =>
    isMore(after, before, least)
      ? kinds.slice(0, 1)
      : isMore(before, after, least)
        ? kinds.slice(1)
        : [];
  // Per step if both sides have steps: a run twice as long allocates twice as often.
  const [countA, countB, least] =
    stepsA > 1 && stepsB > 1
      ? [a.allocations / stepsA, b.allocations / stepsB, 1]
      : [a.allocations, b.allocations, NOTABLE_COUNT];
  const lives: RunChangeKind[] = ['lives-longer', 'lives-shorter'];
  const kinds = [
    ...changed(a.lifetimeShare, b.lifetimeShare, NOTABLE_SHARE, lives),
    ...changed(countA, countB, least, ['churns-more', 'churns-less']),
  ];
  return kinds.length === 0 ? undefined : { kinds, frame: lineOf(sideB, b.stack), a, b };
}
