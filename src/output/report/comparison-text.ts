/** `vramscope compare`: two snapshots for a terminal, and as Markdown for a pull request. */

import { COUNTER_NAMES } from '../../allocator/replay/types.ts';
import { changedPlaces, lineText, signedBytes } from '../../analysis/compare/change-text.ts';
import type { FailedThreshold } from '../../analysis/compare/thresholds.ts';
import type { CallSiteChange, Comparison, RunProfile } from '../../analysis/compare/types.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { COUNTER_LABELS } from './stats-text.ts';
import { inline, MARKDOWN, type TextOptions, terminalWriter, type Writer } from './text.ts';

/** Call sites shown; the JSON has all. */
export const MAX_SITES = 20;
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
  const write = terminalWriter(options);
  const { a, b, verdict, caveats } = comparison;
  return [
    ...write.paragraph(`A ${sideText(a)}`),
    ...write.paragraph(`B ${sideText(b)}`),
    '',
    ...write.paragraph(verdict),
    ...caveats.flatMap((caveat) => ['', ...write.paragraph(`Note: ${caveat}`)]),
    ...tables(comparison, write),
    ...failed.flatMap((gate) => ['', ...failedText(comparison, gate).flatMap(write.paragraph)]),
  ];
}

export function comparisonMarkdown(
  comparison: Comparison,
  failed: readonly FailedThreshold[],
): string[] {
  const { a, b, verdict, caveats } = comparison;
  return [
    `## Memory: ${inline(a.file.name)} → ${inline(b.file.name)}`,
    '',
    `**${inline(verdict)}**`,
    ...failed.flatMap((gate) => [
      '',
      ...failedText(comparison, gate).map((line) => `❌ ${inline(line)}`),
    ]),
    ...caveats.flatMap(MARKDOWN.paragraph),
    ...tables(comparison, MARKDOWN),
  ];
}

function tables(comparison: Comparison, write: Writer): string[] {
  const { a, b, settings } = comparison;
  return [
    ...write.section('Peaks', write.table(counterRows(a, b))),
    ...write.section('By class', write.table(classRows(comparison))),
    ...write.section('By call site', write.table(siteRows(comparison), restText(comparison))),
    ...write.section('Over the run', runText(comparison).flatMap(write.item)),
    ...write.section(
      'Settings',
      write.table([['', 'A', 'B'], ...settings.map((one) => [one.name, one.a, one.b])]),
    ),
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
      `${placeText(site)}${viaText(site)}`,
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

const restText = ({ sites }: Comparison): string =>
  moreSitesText(
    changed(sites)
      .slice(MAX_SITES)
      .map(({ differenceBytes }) => differenceBytes),
  );

/** Sums what a table leaves out, so that everything adds up. */
export function moreSitesText(differences: readonly number[]): string {
  if (differences.length === 0) return '';
  const bytes = differences.reduce((sum, own) => sum + own, 0);
  return `and ${formatCount(differences.length)} more call sites, together ${signedBytes(bytes)} (--json has all)`;
}

function runText({ runChanges }: Comparison): string[] {
  return runChanges.slice(0, MAX_RUN_CHANGES).map(({ kinds, frame, a, b }) => {
    const place = frame === undefined ? 'no Python stack' : lineText(frame);
    const says = kinds.map((kind) => RUN_LABELS[kind]).join(', ');
    return `${place}: ${says} in B (${formatCount(a.allocations)} → ${formatCount(b.allocations)} allocations)`;
  });
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
