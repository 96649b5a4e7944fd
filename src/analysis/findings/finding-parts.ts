/** Building blocks shared by all detectors' findings. */

import type { AllocationIndex, Replay } from '../../allocator/replay/types.ts';
import { getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { fileName } from '../../base/file-names.ts';
import { sumByClass } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import { stackKind } from '../../device/model/stacks.ts';
import type { FrameView, StackView } from '../../device/model/types.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from './analysis-input.ts';
import type {
  AddressGap,
  AnyFinding,
  Evidence,
  Fact,
  FindingPart,
  LineRole,
  Series,
} from './types.ts';
import { userLines } from './user-lines.ts';

/** 'train.py:21 (step)', or words that say there is no frame. */
export function locationText(frame: FrameView | undefined): string {
  return frame === undefined ? 'a place that has no recorded stack' : frameLabel(frame);
}

export const placeText = ({ input }: AnalysisInput, stack: StackIndex): string =>
  locationText(input.stacks.topUserFrameView(stack));

/** A detector's answer if the recording lacks what it reads. */
export const cannotTell = (reason: string) => ({ status: 'cannot-tell', reason }) as const;

/** A detector's answer if it found nothing. */
export const clear = (checked: string) => ({ status: 'clear', checked }) as const;

/** Rows that the page can select. Stacks are listed once each. */
function evidence(
  context: AnalysisInput,
  allocations: ArrayLike<AllocationIndex>,
  sites: readonly { readonly stack: StackIndex }[],
  gaps: readonly AddressGap[] = [],
): Evidence {
  const { sizeBytes } = context.input.replay.allocations;
  return {
    allocations: Int32Array.from(allocations).sort((a, b) => sizeBytes[b] - sizeBytes[a]),
    stacks: [...new Set(sites.map(({ stack }) => stack))],
    gaps,
  };
}

type OfStack = ReturnType<typeof locationOf>;
type Derived = keyof OfStack | 'claim' | 'facts' | 'parts' | 'evidence' | 'moment' | 'fingerprint';

/** A finding as its detector describes it. `findingOf` adds what is the same for all. */
interface Told<Id extends string, Kind extends string> extends Omit<AnyFinding<Id, Kind>, Derived> {
  readonly stack: StackIndex | undefined;
  readonly frameIs?: LineRole | undefined;
  /** The line to look at and those that lead to it, if they are not those of the stack. */
  readonly lines?: readonly FrameView[];
  /** @param where 'train.py:21 (step)' */
  readonly claim: (where: string) => string;
  readonly facts?: readonly Fact[];
  /** Call sites, the largest first; the first `shown` of them become parts, each with its `note`. */
  readonly sites: readonly SiteSum[];
  readonly shown?: number;
  readonly note: string | ((site: SiteSum) => string);
  /** Set if the parts are not the sites. */
  readonly parts?: readonly FindingPart[];
  readonly ids?: ArrayLike<AllocationIndex>;
  readonly gaps?: readonly AddressGap[];
  /** Set if the claim counts the evidence at an event of its own. */
  readonly moment?: EventIndex;
  /** For the fingerprint, if it is not the line's stack. */
  readonly origin?: StackIndex;
}

/** 'No optimizer, annotation or loop', of what is recorded. */
export const noSteps = ({ recording }: Pick<Replay, 'recording'>): string =>
  `${recording === 'truncated' ? 'In what is left of the recording, no' : 'No'} optimizer, annotation or loop`;

/** There may be hundreds of call sites. */
const TOP_SITES = 8;

export function findingOf<Id extends string, Kind extends string>(
  context: AnalysisInput,
  told: Told<Id, Kind>,
): AnyFinding<Id, Kind> {
  const { stack, frameIs, lines, sites, note, shown = TOP_SITES, ids = [], ...more } = told;
  const { gaps, ...rest } = more;
  const { origin = stack, parts, claim, facts = [], moment, ...same } = rest;
  const { preexisting } = context.input.replay.allocations;
  const isFromBefore = ids.length > 0 && highest(ids) < preexisting;
  const where = {
    ...locationOf(context, stack, isFromBefore, frameIs),
    ...placeOf(lines, frameIs),
  };
  const noteOf = typeof note === 'string' ? () => note : note;
  return {
    ...same,
    ...where,
    claim: claim(locationText(where.frame)),
    facts,
    parts:
      parts ?? alike(sites.map((site) => sitePart(context, site, noteOf(site)))).slice(0, shown),
    evidence: evidence(context, ids, sites, gaps),
    moment: moment ?? momentOfAll(context, ids, rest.events.last),
    fingerprint: fingerprint(context, told.detector, told.kind, origin),
  };
}

/** Parts that read the same are one: paths that differ only inside the framework end in the same line. */
function alike(parts: readonly FindingPart[]): FindingPart[] {
  const groups = groupBy(parts, ({ frame, note, stackKind: kind }) =>
    [frame?.filename, frame?.line, frame?.name, note, kind].join('\n'),
  );
  const sums = [...groups.values()].map((same) => ({
    ...(same[0] as FindingPart),
    bytes: sumBy(same, ({ bytes }) => bytes),
    count: sumBy(same, ({ count }) => count),
  }));
  return sums.length === parts.length ? sums : sums.sort((a, b) => b.bytes - a.bytes);
}

/** The event nearest to `last` after which all of them are live; `last` itself if there is none. */
function momentOfAll(
  { input }: AnalysisInput,
  ids: ArrayLike<AllocationIndex>,
  last: EventIndex,
): EventIndex {
  const { start, freeRequested } = input.replay.allocations;
  const all = Array.from(ids);
  const from = highest([0, ...all.map((id) => start[id])]);
  const to = lowest(all.map((id) => freeRequested[id]));
  return from < to ? Math.max(from, Math.min(last, to - 1)) : last;
}

/** A detector's answer if it found one thing. */
export const found = <Id extends string, Kind extends string>(
  context: AnalysisInput,
  told: Told<Id, Kind>,
) => ({ status: 'found', findings: [findingOf(context, told)] }) as const;

function locationOf(
  context: AnalysisInput,
  stack: StackIndex | undefined,
  isFromBefore: boolean,
  role?: LineRole,
) {
  const { stacks } = context.input;
  const { frames, kind }: StackView =
    stack === undefined ? NO_VIEW : stacks.view(stack, isFromBefore);
  const frame = stack === undefined ? undefined : stacks.topUserFrameView(stack);
  return {
    frame,
    frameIs: frame && role,
    userLines: userLines(context, stack),
    stack: frames.filter(({ isPlumbing }) => !isPlumbing),
    stackKind: kind,
  };
}

function placeOf(lines: readonly FrameView[] = [], role?: LineRole) {
  return lines.length === 0 ? {} : { frame: lines[0], frameIs: role, userLines: lines };
}

const NO_VIEW = { kind: 'no-context', frames: [] } as const;

/**
 * The same for the same cause in another recording: file names without folders, functions, no line numbers (they change
 * with every edit), no addresses.
 */
function fingerprint(
  { input }: AnalysisInput,
  detector: string,
  kind: string,
  stack: StackIndex | undefined,
): string {
  const frames = stack === undefined ? [] : input.stacks.view(stack).frames;
  const users = frames.filter(({ kind }) => kind === 'user');
  const names = users.map(({ filename, name }) => `${fileName(filename)}:${name}`);
  return [detector, kind, ...names.slice(0, 8)].join('|');
}

const MAX_POINTS = 240;

/** A small plot: `bytes[i]` after `events[i]`. */
export function series(
  unit: Series['unit'],
  label: string,
  events: ArrayLike<EventIndex>,
  bytes: ArrayLike<number>,
): Series {
  return { unit, label, count: events.length, events: thinned(events), bytes: thinned(bytes) };
}

/** Of what is live at the bounds of steps: a point at the end of each step. */
export const stepSeries = (label: string, bounds: Int32Array, bytes: Float64Array): Series =>
  series('step', label, bounds.subarray(1), bytes.subarray(1));

/** At most MAX_POINTS points, evenly spaced, always including the last. */
function thinned<T>(points: ArrayLike<T>): T[] {
  const all = Array.from(points);
  if (all.length <= MAX_POINTS) return all;
  return Array.from(
    { length: MAX_POINTS },
    (_, i) => all[Math.round((i * (all.length - 1)) / (MAX_POINTS - 1))],
  );
}

export interface SiteSum {
  readonly stack: StackIndex;
  /** If there is no line of Python: the site that the C++ frames name. */
  readonly nativeSite?: StackIndex | undefined;
  readonly bytes: number;
  readonly count: number;
  /** All its blocks are from before the trace. */
  readonly isFromBefore?: boolean;
}

/** Allocations, or rows of another table, by stack; the most bytes first. */
export function sumByStack(
  { stack, sizeBytes }: { readonly stack: Int32Array; readonly sizeBytes: ArrayLike<number> },
  rows: Iterable<number>,
  nativeSiteOf: (row: number) => StackIndex | undefined = () => undefined,
): SiteSum[] {
  /** By stack, or by native site (as a negative number) if there is one. */
  const sums = new Map<number, SiteSum & { bytes: number; count: number }>();
  for (const row of rows) {
    const nativeSite = nativeSiteOf(row);
    const key = nativeSite === undefined ? stack[row] : -2 - nativeSite;
    const empty = () => ({ stack: stack[row], nativeSite, bytes: 0, count: 0 });
    const sum = getOrMake(sums, key, empty);
    sum.bytes += sizeBytes[row];
    sum.count++;
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

/** Allocations by stack, or by what their C++ frames name if there is none; the most block bytes first. */
export function sumBySite(context: AnalysisInput, ids: Iterable<AllocationIndex>): SiteSum[] {
  const { stack, sizeBytes, preexisting } = context.input.replay.allocations;
  const later = new Set<StackIndex>();
  for (const id of ids) if (id >= preexisting) later.add(stack[id]);
  // What has no stack because it is from before the recording is not the backward pass's, which has none either.
  const isOld = (id: AllocationIndex) => id < preexisting && stack[id] <= EMPTY_STACK;
  return [...groupBy([...ids], isOld)]
    .flatMap(([areOld, own]) =>
      sumByStack({ stack, sizeBytes }, own, (id) =>
        stack[id] > EMPTY_STACK ? undefined : context.nativeSiteOf(id),
      ).map((sum) => ({ ...sum, isFromBefore: areOld || !later.has(sum.stack) })),
    )
    .sort((a, b) => b.bytes - a.bytes);
}

/** A site as part of a finding, under the user's line or its C++ name. `note` says why it is listed. */
export function sitePart(
  context: AnalysisInput,
  { stack, nativeSite, bytes, count, isFromBefore = false }: SiteSum,
  note: string,
): FindingPart {
  const frame =
    nativeSite === undefined
      ? context.input.stacks.topUserFrameView(stack)
      : context.nativeFrame(nativeSite);
  return { stack, stackKind: stackKind(stack, isFromBefore), frame, bytes, count, note };
}

export function classFacts(context: AnalysisInput, event: EventIndex): Fact[] {
  const { allocations } = context.input.replay;
  const totals = sumByClass(allocations, context.classification, event, false);
  return totals.map(({ class: of, bytes }) => ({ label: MEMORY_CLASSES[of].label, bytes }));
}
