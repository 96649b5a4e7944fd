/** `vramscope compare` with three or more files: text, Markdown and the contract `vramscope.series/1`. */

import { lineText, signedBytes } from '../../analysis/compare/change-text.ts';
import { growthOf, type RunSeries, type SeriesSite } from '../../analysis/compare/series.ts';
import { formatBytes } from '../../base/format.ts';
import { frameReport } from '../../device/model/frame-text.ts';
import { sideReport } from './comparison.ts';
import { classLabel, MAX_SITES, moreSitesText } from './comparison-text.ts';
import { MARKDOWN, printable, type TextOptions, terminalWriter, type Writer } from './text.ts';

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

export function seriesText(series: RunSeries, options: TextOptions): string[] {
  const write = terminalWriter(options);
  return [
    ...series.sides.map(({ file }, i) => printable(`${letterOf(i)} ${file.name}`)),
    '',
    ...write.paragraph(series.verdict),
    ...tables(series, write),
  ];
}

export const seriesMarkdown = (series: RunSeries): string[] => [
  `## Memory over ${series.sides.length} snapshots`,
  ...MARKDOWN.paragraph(series.verdict),
  ...tables(series, MARKDOWN),
];

const tables = (series: RunSeries, write: Writer): string[] => [
  ...write.section('By class', write.table(classRows(series))),
  ...write.section('By call site', write.table(siteRows(series), restText(series))),
];

/** 'A', 'B', … 'Z', '27'. */
const letterOf = (i: number): string => (i < 26 ? String.fromCharCode(65 + i) : `${i + 1}`);

function classRows({ sides, classes }: RunSeries): string[][] {
  const header = ['', ...sides.map((_, i) => letterOf(i)), 'growth'];
  return [header, ...classes.map((one) => [classLabel(one.class), ...cells(one.bytes)])];
}

const cells = (bytes: readonly number[]): string[] => [
  ...bytes.map(formatBytes),
  signedBytes(growthOf(bytes)),
];

function siteRows({ sides, sites }: RunSeries): string[][] {
  const header = ['', 'class', ...sides.map((_, i) => letterOf(i)), 'growth'];
  const rows = changed(sites)
    .slice(0, MAX_SITES)
    .map((site) => [
      site.frame === undefined ? 'no Python stack' : lineText(site.frame),
      classLabel(site.class),
      ...cells(site.bytes),
    ]);
  return [header, ...rows];
}

const changed = (sites: readonly SeriesSite[]) =>
  sites.filter(({ bytes }) => growthOf(bytes) !== 0);

const restText = ({ sites }: RunSeries): string =>
  moreSitesText(
    changed(sites)
      .slice(MAX_SITES)
      .map(({ bytes }) => growthOf(bytes)),
  );
