/** Compares two sides: what grew and what shrank. Everything adds up to the byte. */

import { getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { settingText } from '../../device/memory-summary/settings.ts';
import { alignFrames, type FrameAlignment, fileKey } from './align-frames.ts';
import { causesOf } from './causes.ts';
import { lineOf } from './change-text.ts';
import { changeOf, type MergedStacks, matchSites, mergeStacks, siteChange } from './match-sites.ts';
import { oneSidedFunctions } from './program-features.ts';
import type {
  CallSiteChange,
  ClassChange,
  Comparison,
  EntryChange,
  RunChange,
  RunChangeKind,
  RunProfile,
  SettingChange,
  SideEntry,
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

function classChanges(sites: readonly CallSiteChange[]): ClassChange[] {
  const classes = Array.from(
    groupBy(sites, ({ class: own }) => own),
    ([own, same]) => ({
      class: own,
      bytesA: sumBy(same, ({ bytesA }) => bytesA),
      bytesB: sumBy(same, ({ bytesB }) => bytesB),
    }),
  );
  const changeOf = ({ bytesA, bytesB }: ClassChange) => Math.abs(bytesB - bytesA);
  return classes.sort((x, y) => changeOf(y) - changeOf(x) || y.bytesB - x.bytesB);
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
  const sums = changeOf(a, b);
  const [{ kind, lines, rate, isGrowing }] = sums.bytesA > sums.bytesB ? a : b;
  return { kind, lines, rate: isGrowing ? rate : undefined, ...sums };
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
  // Per step if both sides have steps: a run twice as long allocates twice as often.
  const [stepsA, stepsB] = [a, b].map(({ stepBounds }) => stepBounds.length - 1);
  const isPerStep = stepsA > 1 && stepsB > 1;
  const rates = (before: number, after: number): RunChangeKind[] =>
    isPerStep
      ? kindOf(before / stepsA, after / stepsB, 1, ['churns-more', 'churns-less'])
      : kindOf(before, after, NOTABLE_COUNT, ['churns-more', 'churns-less']);
  const changes: RunChange[] = [];
  for (const run of b.runs) {
    const other = run.stack > 0 ? inA.get(ofB[run.stack]) : undefined;
    if (other === undefined) continue;
    const lives = ['lives-longer', 'lives-shorter'] as const;
    const kinds = [
      ...kindOf(other.lifetimeShare, run.lifetimeShare, NOTABLE_SHARE, lives),
      ...rates(other.allocations, run.allocations),
    ];
    if (kinds.length > 0) changes.push({ kinds, frame: lineOf(b, run.stack), a: other, b: run });
  }
  const weight = (change: RunChange) => Math.max(change.a.totalBytes, change.b.totalBytes);
  return changes.sort((x, y) => weight(y) - weight(x));
}

function kindOf(
  before: number,
  after: number,
  least: number,
  [more, less]: readonly [RunChangeKind, RunChangeKind],
): RunChangeKind[] {
  const isMuchMore = (x: number, y: number) => x >= RATIO * y && x - y >= least;
  if (isMuchMore(after, before)) return [more];
  return isMuchMore(before, after) ? [less] : [];
}
