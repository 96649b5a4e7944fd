/** Changes and their places in words. */
import { fileName } from '../base/file-names.ts';
import { formatBytes, plural } from '../base/format.ts';
import { frameLocation, functionText } from '../device/frame-text.ts';
import type { SideFrame } from './side.ts';
import type { CallSiteChange } from './types.ts';

/** '+3.10 GiB', '-512 bytes', '+0 bytes'. */
export const signedBytes = (bytes: number): string =>
  `${bytes < 0 ? '' : '+'}${formatBytes(bytes)}`;

/** All changes at one line, or of one class where there is no line. */
export interface ChangedPlace {
  readonly frame: SideFrame | undefined;
  readonly class: string;
  readonly bytes: number;
}

/** In the order in which they are first met. */
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

/** 'model.py:42, :57 and the backward pass'. */
export const placesText = (places: readonly ChangedPlace[]): string =>
  joinWithAnd(placeTexts(places));

function placeTexts(lines: readonly ChangedPlace[]): string[] {
  let file: string | undefined;
  return lines.map((line) => {
    const { frame } = line;
    if (frame === undefined) return absentText(line.class);
    const name = fileName(frame.filename);
    const isSameFile = name !== '' && name === file;
    file = name;
    return isSameFile ? `:${frame.line}` : lineText(frame);
  });
}

/** "a", "a and b", "a, b and c". */
export function joinWithAnd(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  return `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`;
}

/** 'train.py:21', or a function's name where no file is known. */
export const lineText = (frame: SideFrame): string => frameLocation(frame) ?? functionText(frame);

function absentText(className: string): string {
  switch (className) {
    case 'rounding':
      return 'rounding';
    case 'before-recording':
      return 'memory from before the recording';
    case 'unaccounted':
      return 'memory that the events do not explain';
    default:
      return 'places without a Python stack (the backward pass)';
  }
}

/** 'model.py:42, :57 and 3 more lines', of changes, the largest first. */
export const changedLines = (sites: readonly CallSiteChange[], most = 3): string =>
  framesText(
    changedPlaces(sites).flatMap(({ frame }) => frame ?? []),
    most,
  );

/** The same of lines. */
export function framesText(frames: readonly SideFrame[], most: number): string {
  const rest = frames.length - most;
  const shown = frames.slice(0, rest === 1 ? most + 1 : most);
  const places = placeTexts(shown.map((frame) => ({ frame, class: '', bytes: 0 })));
  return joinWithAnd(rest > 1 ? [...places, plural(rest, 'more line')] : places);
}

/** How many different lines the changes are at. */
export const lineCount = (sites: readonly CallSiteChange[]): number =>
  changedPlaces(sites).filter(({ frame }) => frame !== undefined).length;
