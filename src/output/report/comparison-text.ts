/** `vramscope compare`: two snapshots for a terminal, and as Markdown for a pull request. */

import { COUNTER_NAMES } from '../../allocator/replay/types.ts';
import {
  changedPlace,
  changedPlaces,
  lineText,
  placeLabel,
  RUN_LABELS,
  signedBytes,
} from '../../analysis/compare/change-text.ts';
import type { FailedThreshold } from '../../analysis/compare/thresholds.ts';
import type { CallSiteChange, Comparison, RunProfile } from '../../analysis/compare/types.ts';
import { sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount } from '../../base/format.ts';
import { peakText } from '../../device/model/main-device.ts';
import { COUNTER_LABELS } from './stats-text.ts';
import { deviceName } from './summary-text.ts';
import type { Writer } from './text.ts';

/** Call sites shown; the JSON has all. */
const MAX_SITES = 20;
const MAX_RUN_CHANGES = 5;
/** Lines named for a failed limit. */
const MAX_BLAMED = 3;

export function comparisonText(
  comparison: Comparison,
  failed: readonly FailedThreshold[],
  write: Writer,
): string[] {
  const { a, b, verdict, caveats, classes, settings, sites, card } = comparison;
  const changed = sites.filter(({ differenceBytes }) => differenceBytes !== 0);
  const counters = COUNTER_NAMES.map((name) => [
    COUNTER_LABELS[name],
    peakText(a.peak[name], a.recording),
    peakText(b.peak[name], b.recording),
    signedBytes(b.peak[name] - a.peak[name]),
  ]);
  const byClass = classes.map((one) => [
    classLabel(one.class),
    ...byteCells(one.bytesA, one.bytesB),
  ]);
  const header = ['', 'A', 'B', 'difference'];
  return [
    ...write.heading(`Memory: ${a.file.name} → ${b.file.name}`),
    ...write.verdict(verdict),
    ...failed.flatMap((gate) => failedTexts(comparison, gate).flatMap(write.paragraph)),
    ...write.list([
      ...[`A: ${sideText(a)}`, `B: ${sideText(b)}`],
      ...caveats.map((caveat) => `Note: ${caveat}`),
    ]),
    ...write.section('Peaks', write.table([header, ...counters])),
    ...write.section(
      'The card',
      write.table([
        header,
        ...card.map((row) => [row.label, ...byteCells(row.bytesA, row.bytesB)]),
      ]),
    ),
    ...write.section('By class', write.table([header, ...byClass])),
    ...write.section(
      'By call site',
      siteTable(
        ['', 'class', 'change', 'live', 'A', 'B', 'difference'],
        changed.map((site) => ({ bytes: site.differenceBytes, cells: siteCells(site) })),
        write,
      ),
    ),
    ...write.section('Over the run', write.list(runTexts(comparison))),
    ...write.section(
      'Settings',
      write.table([['', 'A', 'B'], ...settings.map((one) => [one.name, one.a, one.b])]),
    ),
  ];
}

function sideText(side: RunProfile): string {
  const { file, event, counters, peak, stepBounds } = side;
  const moment = counters.allocatedBytes === peak.allocatedBytes ? 'its peak' : 'what is compared';
  const steps = stepBounds.length > 1 ? `, ${formatCount(stepBounds.length - 1)} steps` : '';
  return `${file.name}, ${deviceName(side)}${steps}: ${formatBytes(counters.allocatedBytes)} allocated at ${moment}, event ${formatCount(event)}`;
}

const byteCells = (a: number, b: number): string[] => [
  formatBytes(a),
  formatBytes(b),
  signedBytes(b - a),
];

/** 'optimizer-state' becomes 'optimizer state'. */
export const classLabel = (name: string): string => name.replaceAll('-', ' ');

/** The largest changes; the rest in a line, so that everything adds up. */
export function siteTable(
  header: readonly string[],
  rows: readonly { readonly bytes: number; readonly cells: readonly string[] }[],
  write: Writer,
): string[] {
  const rest = rows.slice(MAX_SITES);
  const bytes = signedBytes(sumBy(rest, (row) => row.bytes));
  const more =
    rest.length === 0
      ? ''
      : `and ${formatCount(rest.length)} more call sites, together ${bytes} (--json has all)`;
  return write.table([header, ...rows.slice(0, MAX_SITES).map(({ cells }) => cells)], more);
}

const siteCells = (site: CallSiteChange): string[] => [
  `${changedPlace(site)}${viaText(site)}`,
  classLabel(site.class),
  site.kind.replace(/^only-(.)$/, (_, side: string) => `only in ${side.toUpperCase()}`),
  `${formatCount(site.countA)} → ${formatCount(site.countB)}`,
  ...byteCells(site.bytesA, site.bytesB),
];

/** ' via linear.py:134': the callee, which distinguishes rows of the same line. */
function viaText({ a, b }: CallSiteChange): string {
  const { frame, innermost } = b ?? a ?? {};
  if (frame === undefined || innermost === undefined || frame === innermost) return '';
  return ` via ${lineText(innermost)}`;
}

const runTexts = ({ runChanges }: Comparison): string[] =>
  runChanges.slice(0, MAX_RUN_CHANGES).map(({ kinds, frame, a, b }) => {
    const says = kinds.map((kind) => RUN_LABELS[kind]).join(', ');
    return `${placeLabel(frame)}: ${says} in B (${formatCount(a.allocations)} → ${formatCount(b.allocations)} allocations)`;
  });

/** The limit that failed, and the lines that grew most. */
function failedTexts(
  { sites }: Comparison,
  { gate, is, bytesA, bytesB }: FailedThreshold,
): string[] {
  const grown = changedPlaces(sites)
    .filter(({ bytes }) => bytes > 0)
    .sort((x, y) => y.bytes - x.bytes)
    .slice(0, MAX_BLAMED)
    .map(({ frame, class: className, bytes }) => {
      return `${placeLabel(frame, classLabel(className))} (${signedBytes(bytes)})`;
    });
  return [
    `❌ Failed: ${gate} is ${is} (${formatBytes(bytesA)} → ${formatBytes(bytesB)}).`,
    ...(grown.length === 0 ? [] : [`What grew most: ${grown.join(', ')}.`]),
  ];
}
