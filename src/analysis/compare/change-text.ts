/** Texts for changes and their places. */
import { fileName } from '../../base/file-names.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { frameLabel, frameLocation, functionText } from '../../device/model/frame-text.ts';
import { entryLabel } from '../account/types.ts';
import type { SideFrame } from './run-profile.ts';
import type { CallSiteChange, Comparison, EntryChange } from './types.ts';

/** '+3.10 GiB', '-512 bytes', '+0 bytes'. */
export const signedBytes = (bytes: number): string =>
  `${bytes < 0 ? '' : '+'}${formatBytes(bytes)}`;

/** All changes at one line, or of one class if there is no line. */
export interface ChangedPlace {
  readonly frame: SideFrame | undefined;
  readonly class: string;
  readonly bytes: number;
}

/** In order of first occurrence. */
export function changedPlaces(sites: readonly CallSiteChange[]): ChangedPlace[] {
  const places = new Map<string, ChangedPlace>();
  for (const site of sites) {
    const frame = (site.b ?? site.a)?.frame;
    const key = frame === undefined ? site.class : `${frame.filename}:${frame.line} ${frame.name}`;
    const bytes = (places.get(key)?.bytes ?? 0) + site.differenceBytes;
    places.set(key, { frame, class: site.class, bytes });
  }
  return [...places.values()];
}

/** "a", "a and b", "a, b and c". */
export function joinWithAnd(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

/** 'train.py:21', or a function's name if the file is not known. */
export const lineText = (frame: SideFrame): string => frameLocation(frame) ?? functionText(frame);

/** 'model.py:42, :57 and 3 more lines'. `sites`: the largest first. */
export const changedLines = (sites: readonly CallSiteChange[], most = 3): string =>
  framesText(
    changedPlaces(sites).flatMap(({ frame }) => frame ?? []),
    most,
  );

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

export const changedLike = (
  { sites }: Pick<Comparison, 'sites'>,
  classes: readonly string[],
  change: number,
): CallSiteChange[] =>
  sites.filter(
    (site) => classes.includes(site.class) && Math.sign(site.differenceBytes) === Math.sign(change),
  );

export const lineCount = (sites: readonly CallSiteChange[]): number =>
  changedPlaces(sites).filter(({ frame }) => frame !== undefined).length;

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
