/** `vramscope compare` with three or more files: text, Markdown and the contract `vramscope.series/1`. */

import { placeLabel, signedBytes } from '../../analysis/compare/change-text.ts';
import { growthOf, type RunSeries } from '../../analysis/compare/series.ts';
import { formatBytes } from '../../base/format.ts';
import { frameReport } from '../../device/model/frame-text.ts';
import { sideReport } from './comparison.ts';
import { classLabel, siteTable } from './comparison-text.ts';
import type { Writer } from './text.ts';

/** `bytes` and `counts` have one value per file, in file order. */
export const buildSeries = ({ sides, sites, classes, verdict }: RunSeries) => ({
  schema: 'vramscope.series/1' as const,
  files: sides.map(sideReport),
  callSites: sites.map((site) => ({
    class: site.class,
    frame: frameReport(site.frame),
    bytes: site.bytes,
    counts: site.counts,
    growthBytes: growthOf(site.bytes),
    grows: site.grows,
  })),
  classes,
  verdict,
});

export function seriesText({ sides, sites, classes, verdict }: RunSeries, write: Writer): string[] {
  const letters = sides.map((_, i) => letterOf(i));
  const rows = sites
    .map(({ bytes, frame, class: className }) => ({
      bytes: growthOf(bytes),
      cells: [placeLabel(frame), classLabel(className), ...cellsOf(bytes)],
    }))
    .filter(({ bytes }) => bytes !== 0);
  const byClass = classes.map((one) => [classLabel(one.class), ...cellsOf(one.bytes)]);
  return [
    ...write.heading(`Memory over ${sides.length} snapshots`),
    ...write.verdict(verdict),
    ...write.list(sides.map(({ file }, i) => `${letters[i]}: ${file.name}`)),
    ...write.section('By class', write.table([['', ...letters, 'growth'], ...byClass])),
    ...write.section('By call site', siteTable(['', 'class', ...letters, 'growth'], rows, write)),
  ];
}

/** 'A', 'B', … 'Z', '27'. */
const letterOf = (i: number): string => (i < 26 ? String.fromCharCode(65 + i) : `${i + 1}`);

const cellsOf = (bytes: readonly number[]): string[] => [
  ...bytes.map(formatBytes),
  signedBytes(growthOf(bytes)),
];
