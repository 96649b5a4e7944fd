/** Texts for changes and their places. */

import { groupBy, sumBy } from '../../base/collections.ts';
import { fileName } from '../../base/file-names.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { FRAME_RANK } from '../../device/model/frame-kinds.ts';
import { frameLabel, frameLocation, functionText } from '../../device/model/frame-text.ts';
import { entryLabel } from '../account/types.ts';
import type { CallSiteChange, EntryChange, RunChangeKind, RunProfile, SideFrame } from './types.ts';

/** '+3.10 GiB', '-512 bytes', '+0 bytes'. */
export const signedBytes = (bytes: number): string =>
  `${bytes < 0 ? '' : '+'}${formatBytes(bytes)}`;

/** A stack's frames, innermost first, as indexes into the side's frames. */
export function* framesOf({ stacks }: RunProfile, stack: number): Generator<number> {
  for (let row = stack; row > 0; row = stacks.parent[row]) yield stacks.frame[row];
}

/** The line to look at first: the innermost of the user's code, else of a framework, else of PyTorch. */
export function lineOf(side: RunProfile, stack: number): SideFrame | undefined {
  let best: SideFrame | undefined;
  for (const frame of framesOf(side, stack)) {
    const own = side.frames[frame];
    if (best === undefined || FRAME_RANK[own.kind] < FRAME_RANK[best.kind]) best = own;
  }
  return best;
}

const frameOf = ({ a, b }: CallSiteChange): SideFrame | undefined => (b ?? a)?.frame;

/** All changes at one line, or of one class if there is no line; in order of first occurrence. */
export function changedPlaces(sites: readonly CallSiteChange[]) {
  const places = groupBy(sites, (site) => {
    const frame = frameOf(site);
    return frame === undefined ? site.class : `${frame.filename}:${frame.line} ${frame.name}`;
  });
  return Array.from(places.values(), (same) => ({
    frame: frameOf(same[0]),
    class: same[0].class,
    bytes: sumBy(same, ({ differenceBytes }) => differenceBytes),
  }));
}

const linesOf = (sites: readonly CallSiteChange[]): SideFrame[] =>
  changedPlaces(sites).flatMap(({ frame }) => frame ?? []);

export const lineCount = (sites: readonly CallSiteChange[]): number => linesOf(sites).length;

/** 'model.py:42, :57 and 3 more lines'. `sites`: the largest first. */
export const changedLines = (sites: readonly CallSiteChange[]): string =>
  framesText(linesOf(sites), 3);

/** "a", "a and b", "a, b and c". */
export function joinWithAnd(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

/** 'train.py:21', or a function's name if the file is not known. */
export const lineText = (frame: SideFrame): string => frameLocation(frame) ?? functionText(frame);

/** 'model.py:42', 'model.py:42 → :45' where the line moved; without a line, what the memory is. */
export function changedPlace({ a, b, class: className }: CallSiteChange): string {
  const frame = b?.frame ?? a?.frame;
  if (frame === undefined) return PLACES[className] ?? 'no Python stack';
  if (a?.frame === undefined || b?.frame === undefined) return lineText(frame);
  const [before, after] = [lineText(a.frame), lineText(b.frame)];
  if (before === after) return after;
  const isSameFile = fileName(a.frame.filename) === fileName(b.frame.filename);
  return `${before} → ${isSameFile ? `:${b.frame.line}` : after}`;
}

const PLACES: Readonly<Record<string, string>> = {
  rounding: 'rounding to whole blocks',
  'before-recording': 'before the recording',
  unaccounted: 'not explained by the events',
};

export const RUN_LABELS: Readonly<Record<RunChangeKind, string>> = {
  'lives-longer': 'lives longer',
  'lives-shorter': 'lives shorter',
  'churns-more': 'made more often',
  'churns-less': 'made less often',
};

/** If there is no line, the absence of one. */
export const placeLabel = (frame: SideFrame | undefined, none = 'no Python stack'): string =>
  frame === undefined ? none : lineText(frame);

export function framesText(frames: readonly SideFrame[], most: number): string {
  const rest = frames.length - most;
  const shown = frames.slice(0, rest === 1 ? most + 1 : most);
  const places = shown.map((frame, i) => {
    const file = fileName(frame.filename);
    const isSameFile = file !== '' && file === fileName(shown[i - 1]?.filename ?? '');
    return isSameFile ? `:${frame.line}` : lineText(frame);
  });
  return joinWithAnd(rest > 1 ? [...places, plural(rest, 'more line')] : places);
}

/** '+1.20 GiB of activations'. */
export const entryText = ({ kind, differenceBytes }: EntryChange): string =>
  `${signedBytes(differenceBytes)} of ${kindLabel(kind)}`;

function kindLabel(kind: EntryChange['kind']): string {
  if (kind === 'unaccounted') return 'memory that the events do not explain';
  if (kind === 'unknown') return 'unknown memory';
  return kind === 'growing' ? 'tensors replaced by larger ones' : entryLabel(kind);
}

/** Kinds whose line and rate are the cause. */
export const OWN_STORY: ReadonlySet<EntryChange['kind']> = new Set([
  'kept',
  'kept-graph',
  'growing',
  'second-model',
  'kv-cache',
]);

/** 'kept tensors from train.py:224 (estimate_loss)'. */
export function entryName({ kind, lines: [line] }: EntryChange): string {
  return OWN_STORY.has(kind) && line !== undefined
    ? `${kindLabel(kind)} from ${frameLabel(line)}`
    : kindLabel(kind);
}
