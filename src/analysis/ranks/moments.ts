/**
 * The dumps of one process (every hundred steps, EXTEND and DECODE, at an OOM) as one series: what was live when each
 * was taken, by line of the program, and what grew from dump to dump.
 */

import { getOrMake, sumBy } from '../../base/collections.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import { signedBytes } from '../compare/change-text.ts';
import { growthOf } from '../compare/series.ts';
import type { RankSummary } from '../summary-file/types.ts';
import type { NumberedFile } from './number-files.ts';
import { frameLabelOf } from './rank-lines.ts';

/** `bytes` has one value per dump: allocated at its end. */
interface MomentLine {
  readonly label: string;
  readonly frame: FrameReport | null;
  readonly class: string | null;
  readonly bytes: number[];
}

export type RankMoments = ReturnType<typeof momentsOf>;

/** @param files of one rank, at least two, by path */
export function momentsOf(files: readonly NumberedFile[]) {
  const inOrder = inTime(files);
  const summaries = inOrder.map(({ summary }) => summary);
  const lines = growingFirst(lineTable(summaries));
  const dumps = inOrder.map(({ path, moment, summary }) => ({
    path,
    /** 'step 10', 'EXTEND'; or ''. */
    moment,
    /** At the end of the dump; null if not known. */
    allocatedBytes: summary.end.allocatedBytes,
    reservedBytes: summary.end.reservedBytes,
    peakBytes: summary.peak.allocatedBytes.bytes,
    curve: summary.curve,
  }));
  return {
    dumps,
    /** The largest growth first. They add up to each dump's allocated bytes. */
    lines: lines.map((line) => ({ ...line, grows: grows(line.bytes) })),
    text: textOf(
      dumps.map(({ allocatedBytes }) => allocatedBytes),
      lines,
    ),
  };
}

/** By the recorder's clock if all differ in it; dumps of one ring begin with the same event. */
function inTime(files: readonly NumberedFile[]): readonly NumberedFile[] {
  const starts = new Set(files.map(({ summary }) => summary.startUs));
  if (starts.size < files.length || starts.has(null)) return files;
  return files.toSorted((a, b) => (a.summary.startUs ?? 0) - (b.summary.startUs ?? 0));
}

function lineTable(summaries: readonly RankSummary[]): MomentLine[] {
  const rows = new Map<string, MomentLine>();
  const zeros = () => summaries.map(() => 0);
  summaries.forEach(({ callSites, otherSites }, at) => {
    for (const { line, frame, label, class: own, endBytes } of callSites) {
      const row = getOrMake(rows, line, () => ({
        label: frame === null ? label : frameLabelOf(frame),
        frame,
        class: own,
        bytes: zeros(),
      }));
      row.bytes[at] += endBytes;
    }
    if (otherSites.endBytes === 0) return;
    const rest = { label: 'other call sites', frame: null, class: null };
    getOrMake(rows, '', () => ({ ...rest, bytes: zeros() })).bytes[at] += otherSites.endBytes;
  });
  return [...rows.values()].filter(({ bytes }) => bytes.some((own) => own > 0));
}

const growingFirst = (lines: readonly MomentLine[]): MomentLine[] =>
  lines.toSorted((a, b) => {
    const byGrowth = Math.abs(growthOf(b.bytes)) - Math.abs(growthOf(a.bytes));
    return byGrowth || sumBy(b.bytes, (own) => own) - sumBy(a.bytes, (own) => own);
  });

/** Each dump has more than the one before. */
const grows = (bytes: readonly number[]): boolean =>
  bytes.every((own, i) => i === 0 || own > bytes[i - 1]);

/** Less growth is not worth a sentence. */
const NOTABLE_BYTES = 2 ** 20;
const MAX_NAMED = 3;

function textOf(totals: readonly (number | null)[], lines: readonly MomentLine[]): string {
  const known = totals.filter((bytes) => bytes !== null);
  const change = known.length === totals.length ? ` (${signedBytes(growthOf(known))})` : '';
  const all = totals.map((bytes) => (bytes === null ? 'unknown' : formatBytes(bytes))).join(' → ');
  const head = `${plural(totals.length, 'dump')} of one process: ${all} allocated${change}`;
  const growing = lines.filter(({ bytes }) => grows(bytes) && growthOf(bytes) >= NOTABLE_BYTES);
  if (growing.length === 0) return `${head}. No line grows by 1 MiB or more from dump to dump.`;
  const named = growing
    .slice(0, MAX_NAMED)
    .map(({ label, bytes }) => `${label} (${signedBytes(growthOf(bytes))})`);
  const rest = growing.length - named.length;
  const more = rest > 0 ? ` and ${plural(rest, 'more line')}` : '';
  return `${head}. In every dump there is more from ${named.join(', ')}${more}.`;
}
