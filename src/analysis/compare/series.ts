/**
 * Three or more snapshots of one run, such as a dump every hundred steps: what each call site holds in each file, and
 * which sites grow from file to file.
 */

import { formatBytes, plural } from '../../base/format.ts';
import { getOrMake } from '../../base/memoized.ts';
import { alignFrames } from './align-frames.ts';
import { lineText, signedBytes } from './change-text.ts';
import { lineOf, type RunProfile, type SideFrame } from './run-profile.ts';

export interface SeriesSite {
  readonly class: string;
  readonly frame: SideFrame | undefined;
  /** One value per file. */
  readonly bytes: readonly number[];
  readonly counts: readonly number[];
  /** Each file has more than the one before. */
  readonly grows: boolean;
}

export interface RunSeries {
  readonly sides: readonly RunProfile[];
  /** The largest growth from the first file to the last comes first. They add up to each file's allocated bytes. */
  readonly sites: readonly SeriesSite[];
  readonly classes: readonly { readonly class: string; readonly bytes: readonly number[] }[];
  readonly verdict: string;
}

/** In the order given; all are aligned with the first. */
export function compareSeries(sides: readonly RunProfile[]): RunSeries {
  const rows = new Map<string, { side: RunProfile; stack: number; row: MutableRow }>();
  sides.forEach((side, at) => {
    const keyOf = stackKeys(sides[0], side);
    for (const { stack, class: className, bytes, count } of side.sites) {
      const key = `${className} ${keyOf(stack)}`;
      const empty = () => ({ side, stack, row: emptyRow(className, sides.length) });
      const { row } = getOrMake(rows, key, empty);
      row.bytes[at] += bytes;
      row.counts[at] += count;
    }
  });
  const sites = Array.from(rows.values(), ({ side, stack, row }) => ({
    ...row,
    frame: lineOf(side, stack),
    grows: grows(row.bytes),
  }));
  sites.sort((x, y) => Math.abs(growthOf(y.bytes)) - Math.abs(growthOf(x.bytes)));
  return { sides, sites, classes: classesOf(sites), verdict: verdictOf(sides, sites) };
}

interface MutableRow {
  readonly class: string;
  readonly bytes: number[];
  readonly counts: number[];
}

const emptyRow = (className: string, length: number): MutableRow => ({
  class: className,
  bytes: new Array<number>(length).fill(0),
  counts: new Array<number>(length).fill(0),
});

/** The same text for the same stack in any file, with frames in the first file's numbers. */
function stackKeys(first: RunProfile, side: RunProfile): (stack: number) => string {
  const { frames, stacks } = side;
  const toA = side === first ? undefined : alignFrames(first, side).toA;
  const frameKey = (frame: number) => {
    const known = toA === undefined ? frame : toA[frame];
    if (known >= 0) return `${known}`;
    const { filename, line, name } = frames[frame];
    return `${filename}:${line}:${name}`;
  };
  return (stack) => {
    if (stack <= 0) return `${stack}`;
    const keys: string[] = [];
    for (let row = stack; row > 0; row = stacks.parent[row]) keys.push(frameKey(stacks.frame[row]));
    return keys.join(' ');
  };
}

export const growthOf = (bytes: readonly number[]): number =>
  (bytes[bytes.length - 1] ?? 0) - (bytes[0] ?? 0);

const grows = (bytes: readonly number[]): boolean =>
  bytes.every((own, i) => i === 0 || own > bytes[i - 1]);

function classesOf(sites: readonly SeriesSite[]): RunSeries['classes'] {
  const classes = new Map<string, number[]>();
  for (const { class: className, bytes } of sites) {
    const sum = getOrMake(classes, className, () => new Array<number>(bytes.length).fill(0));
    bytes.forEach((own, i) => {
      sum[i] += own;
    });
  }
  return Array.from(classes, ([name, bytes]) => ({ class: name, bytes })).sort(
    (x, y) => Math.abs(growthOf(y.bytes)) - Math.abs(growthOf(x.bytes)),
  );
}

/** Less growth is not worth a sentence. */
const NOTABLE_BYTES = 2 ** 20;
const MAX_LINES = 3;

function verdictOf(sides: readonly RunProfile[], sites: readonly SeriesSite[]): string {
  const totals = sides.map(({ counters }) => counters.allocatedBytes);
  const growth = growthOf(totals);
  const head = `Allocated ${totals.map(formatBytes).join(' → ')} (${signedBytes(growth)})`;
  const growing = sites.filter(
    (site) =>
      site.grows && growthOf(site.bytes) >= NOTABLE_BYTES && site.class !== 'before-recording',
  );
  if (growing.length === 0) {
    return `${head}: no call site grows by 1 MiB or more from file to file.`;
  }
  const named = growing.slice(0, MAX_LINES).map(({ frame, class: className, bytes }) => {
    const place = frame === undefined ? className.replaceAll('-', ' ') : lineText(frame);
    return `${place} (${signedBytes(growthOf(bytes))})`;
  });
  const rest = growing.length - named.length;
  const more = rest > 0 ? `, and ${plural(rest, 'more call site')}` : '';
  return `${head}: in every file there is more from ${named.join(', ')}${more}.`;
}
