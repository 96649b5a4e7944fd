/** `vramscope compare`: two snapshots for a terminal, and as Markdown for a pull request. */

import { COUNTER_NAMES } from '../../allocator/replay/types.ts';
import { changedPlaces, lineText, signedBytes } from '../../analysis/compare/change-text.ts';
import type { FailedThreshold } from '../../analysis/compare/thresholds.ts';
import type { CallSiteChange, Comparison, RunProfile } from '../../analysis/compare/types.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { COUNTER_LABELS } from './stats-text.ts';
import {
  inline,
  markdownRow,
  printable,
  styled,
  type TextOptions,
  textTable,
  wrap,
} from './text.ts';

/** Call sites shown; the JSON has all. */
const MAX_SITES = 20;
const MAX_RUN_CHANGES = 5;
/** Lines named for a failed limit. */
const MAX_BLAMED = 3;

const RUN_LABELS = {
  'lives-longer': 'lives longer',
  'lives-shorter': 'lives shorter',
  'churns-more': 'is allocated more often',
  'churns-less': 'is allocated less often',
} as const;

export function comparisonText(
  comparison: Comparison,
  failed: readonly FailedThreshold[],
  options: TextOptions,
): string[] {
  const { a, b, verdict, caveats, settings } = comparison;
  const paragraph = (text: string) => wrap(printable(text), options.columns);
  const table = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length < 2 ? [] : ['', styled(title, 'bold', options), ...textTable(rows)];
  return [
    ...paragraph(`A ${sideText(a)}`),
    ...paragraph(`B ${sideText(b)}`),
    '',
    ...paragraph(verdict),
    ...caveats.flatMap((caveat) => ['', ...paragraph(`Note: ${caveat}`)]),
    ...table('Peaks', counterRows(a, b)),
    ...table('By class', classRows(comparison)),
    ...table('By call site', siteRows(comparison)),
    ...restText(comparison),
    ...runText(comparison).flatMap((line, i) =>
      i === 0 ? ['', styled(line, 'bold', options)] : paragraph(line),
    ),
    ...table('Settings', settingRows(settings)),
    ...failed.flatMap((gate) => ['', ...failedText(comparison, gate).flatMap(paragraph)]),
  ];
}

function sideText({ file, device, kind, event, counters, peak, stepBounds }: RunProfile): string {
  const where = kind === 'host' ? 'pinned host memory' : `device ${device}`;
  const moment = counters.allocatedBytes === peak.allocatedBytes ? 'its peak' : 'what is compared';
  const steps = stepBounds.length > 1 ? `, ${formatCount(stepBounds.length - 1)} steps` : '';
  return `${file.name}, ${where}${steps}: ${formatBytes(counters.allocatedBytes)} allocated at ${moment}, event ${formatCount(event)}`;
}

function counterRows(a: RunProfile, b: RunProfile): string[][] {
  const rows = COUNTER_NAMES.map((name) => [
    COUNTER_LABELS[name],
    ...byteCells(a.peak[name], b.peak[name]),
  ]);
  return [['', 'A', 'B', 'difference'], ...rows];
}

const byteCells = (a: number, b: number): string[] => [
  formatBytes(a),
  formatBytes(b),
  signedBytes(b - a),
];

function classRows({ classes }: Comparison): string[][] {
  const rows = classes.map((one) => [classLabel(one.class), ...byteCells(one.bytesA, one.bytesB)]);
  return [['', 'A', 'B', 'difference'], ...rows];
}

/** 'optimizer-state' becomes 'optimizer state'. */
export const classLabel = (name: string): string => name.replaceAll('-', ' ');

function siteRows({ sites }: Comparison): string[][] {
  const rows = changed(sites)
    .slice(0, MAX_SITES)
    .map((site) => [
      printable(`${placeText(site)}${viaText(site)}`),
      classLabel(site.class),
      kindLabel(site),
      `${formatCount(site.countA)} → ${formatCount(site.countB)}`,
      ...byteCells(site.bytesA, site.bytesB),
    ]);
  return [['', 'class', 'change', 'live', 'A', 'B', 'difference'], ...rows];
}

const changed = (sites: readonly CallSiteChange[]) =>
  sites.filter(({ differenceBytes }) => differenceBytes !== 0);

function kindLabel({ kind }: CallSiteChange): string {
  if (kind === 'only-a') return 'only in A';
  return kind === 'only-b' ? 'only in B' : kind;
}

/** 'model.py:42', or 'model.py:42 → :57' if the line moved. */
function placeText({ a, b, class: className }: CallSiteChange): string {
  const frame = b?.frame ?? a?.frame;
  if (frame === undefined) return className === 'rounding' ? 'rounding' : 'no Python stack';
  const before = a?.frame;
  if (before === undefined || b?.frame === undefined) return lineText(frame);
  if (lineText(before) === lineText(frame)) return lineText(frame);
  return `${lineText(before)} → ${lineText(frame)}`;
}

/** ' via linear.py:134': the callee, which distinguishes rows of the same line. */
function viaText({ a, b }: CallSiteChange): string {
  const { frame, innermost } = b ?? a ?? {};
  if (frame === undefined || innermost === undefined || frame === innermost) return '';
  return ` via ${lineText(innermost)}`;
}

const restText = ({ sites }: Comparison): string[] =>
  moreSitesText(
    changed(sites)
      .slice(MAX_SITES)
      .map(({ differenceBytes }) => differenceBytes),
  );

/** Sums what a table leaves out, so that everything adds up. */
export function moreSitesText(differences: readonly number[]): string[] {
  if (differences.length === 0) return [];
  const bytes = differences.reduce((sum, own) => sum + own, 0);
  return [
    `and ${formatCount(differences.length)} more call sites, together ${signedBytes(bytes)} (--json has all)`,
  ];
}

function runText({ runChanges }: Comparison): string[] {
  if (runChanges.length === 0) return [];
  const lines = runChanges.slice(0, MAX_RUN_CHANGES).map(({ kinds, frame, a, b }) => {
    const place = frame === undefined ? 'no Python stack' : lineText(frame);
    const says = kinds.map((kind) => RUN_LABELS[kind]).join(', ');
    return `${place}: ${says} in B (${formatCount(a.allocations)} → ${formatCount(b.allocations)} allocations)`;
  });
  return ['Over the run', ...lines];
}

function settingRows(settings: Comparison['settings']): string[][] {
  return [['', 'A', 'B'], ...settings.map(({ name, a, b }) => [name, a, b].map(printable))];
}

/** The limit that failed, and the lines that grew most. */
function failedText(
  comparison: Comparison,
  { gate, is, bytesA, bytesB }: FailedThreshold,
): string[] {
  const grown = changedPlaces(comparison.sites)
    .filter(({ bytes }) => bytes > 0)
    .sort((x, y) => y.bytes - x.bytes)
    .slice(0, MAX_BLAMED)
    .map(
      ({ frame, class: className, bytes }) =>
        `${frame === undefined ? classLabel(className) : lineText(frame)} (${signedBytes(bytes)})`,
    );
  return [
    `Failed: ${gate} is ${is} (${formatBytes(bytesA)} → ${formatBytes(bytesB)}).`,
    ...(grown.length === 0 ? [] : [`What grew most: ${grown.join(', ')}.`]),
  ];
}

export function comparisonMarkdown(
  comparison: Comparison,
  failed: readonly FailedThreshold[],
): string[] {
  const { a, b, verdict, caveats, settings } = comparison;
  const table = (title: string, rows: readonly (readonly string[])[]) =>
    rows.length < 2 ? [] : ['', `### ${title}`, '', ...markdownTable(rows)];
  return [
    `## Memory: ${inline(a.file.name)} → ${inline(b.file.name)}`,
    '',
    `**${inline(verdict)}**`,
    ...failed.flatMap((gate) => [
      '',
      ...failedText(comparison, gate).map((line) => `❌ ${inline(line)}`),
    ]),
    ...caveats.flatMap((caveat) => ['', inline(caveat)]),
    ...table('Peaks', counterRows(a, b)),
    ...table('By class', classRows(comparison)),
    ...table('By call site', siteRows(comparison)),
    ...restText(comparison).flatMap((line) => ['', line]),
    ...table('Settings', settingRows(settings)),
  ];
}

export function markdownTable([header = [], ...rows]: readonly (readonly string[])[]): string[] {
  return [
    markdownRow(header),
    `|${header.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map(markdownRow),
  ];
}
