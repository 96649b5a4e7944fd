/**
 * Three or more snapshots of one run, such as a dump every hundred steps: what each call site holds in each file, and
 * which sites grow from file to file.
 */

import { getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { alignFrames } from './align-frames.ts';
import { framesOf, lineOf, lineText, signedBytes } from './change-text.ts';
import type { RunProfile, SideFrame } from './types.ts';

export type RunSeries = ReturnType<typeof compareSeries>;

/** `bytes` and `counts` have one value per file. */
interface Row {
  readonly class: string;
  readonly frame: SideFrame | undefined;
  readonly bytes: number[];
  readonly counts: number[];
}

type GrowingRow = Row & { readonly grows: boolean };

/** In the order given; all are aligned with the first. */
export function compareSeries(sides: readonly RunProfile[]) {
  const rows = new Map<string, Row>();
  const zeros = () => new Array<number>(sides.length).fill(0);
  sides.forEach((side, at) => {
    const keyOf = stackKeys(sides[0], side);
    for (const { stack, class: own, bytes, count } of side.sites) {
      const row = getOrMake(rows, `${own} ${keyOf(stack)}`, () => ({
        class: own,
        bytes: zeros(),
        counts: zeros(),
        frame: lineOf(side, stack),
      }));
      row.bytes[at] += bytes;
      row.counts[at] += count;
    }
  });
  /** The largest growth from the first file to the last comes first. They add up to each file's allocated bytes. */
  const sites = Array.from(rows.values(), (row) => ({ ...row, grows: grows(row.bytes) }));
  sites.sort(byGrowth);
  const classes = Array.from(
    groupBy(sites, ({ class: own }) => own),
    ([own, same]) => ({
      class: own,
      bytes: sides.map((_, i) => sumBy(same, ({ bytes }) => bytes[i])),
    }),
  );
  return { sides, sites, classes: classes.sort(byGrowth), verdict: verdictOf(sides, sites) };
}

/** The same text for the same stack in any file, with frames in the first file's numbers. */
function stackKeys(first: RunProfile, side: RunProfile): (stack: number) => string {
  const toA = side === first ? undefined : alignFrames(first, side).toA;
  const frameKey = (frame: number) => {
    const known = toA === undefined ? frame : toA[frame];
    if (known >= 0) return `${known}`;
    const { filename, line, name } = side.frames[frame];
    return `${filename}:${line}:${name}`;
  };
  return (stack) =>
    stack <= 0 ? `${stack}` : Array.from(framesOf(side, stack), frameKey).join(' ');
}

export const growthOf = (bytes: readonly number[]): number =>
  (bytes[bytes.length - 1] ?? 0) - (bytes[0] ?? 0);

const byGrowth = (x: Pick<Row, 'bytes'>, y: Pick<Row, 'bytes'>): number =>
  Math.abs(growthOf(y.bytes)) - Math.abs(growthOf(x.bytes));

/** Each file has more than the one before. */
const grows = (bytes: readonly number[]): boolean =>
  bytes.every((own, i) => i === 0 || own > bytes[i - 1]);

/** Less growth is not worth a sentence. */
const NOTABLE_BYTES = 2 ** 20;
const MAX_LINES = 3;

/** @param sites the largest growth first */
function verdictOf(sides: readonly RunProfile[], sites: readonly GrowingRow[]): string {
  const totals = sides.map(({ counters }) => counters.allocatedBytes);
  const head = `Allocated ${totals.map(formatBytes).join(' → ')} (${signedBytes(growthOf(totals))})`;
  const growing = sites.filter(
    (site) =>
      site.grows && growthOf(site.bytes) >= NOTABLE_BYTES && site.class !== 'before-recording',
  );
  if (growing.length === 0)
    return `${head}: no call site grows by 1 MiB or more from file to file.`;
  const named = growing.slice(0, MAX_LINES).map(({ frame, class: className, bytes }) => {
    const place = frame === undefined ? className.replaceAll('-', ' ') : lineText(frame);
    return `${place} (${signedBytes(growthOf(bytes))})`;
  });
  const rest = growing.length - named.length;
  const more = rest > 0 ? `, and ${plural(rest, 'more call site')}` : '';
  return `${head}: in every file there is more from ${named.join(', ')}${more}.`;
}
