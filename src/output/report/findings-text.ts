/** `vramscope analyze`: findings for a terminal, the most severe first, and what was checked. */

import { entryLabel } from '../../analysis/account/types.ts';
import { bytesAreOf, type Check, DETECTOR_IDS } from '../../analysis/findings/detectors.ts';
import type { Severity } from '../../analysis/findings/types.ts';
import { otherLines } from '../../analysis/verdict/types.ts';
import { formatBytes, formatCount, plural, sentenceCase } from '../../base/format.ts';
import {
  type FrameReport,
  frameLabel,
  frameLocation,
  fullPlace,
  functionText,
} from '../../device/model/frame-text.ts';
import type { DeviceFindings, FindingReport, FindingsReport, VerdictReport } from './findings.ts';
import { type DeviceOrder, fileOrder, printable, styled, type TextOptions, wrap } from './text.ts';

const INDENT = '    ';
const SEVERITY_STYLES: Readonly<Record<Severity, 'red' | 'yellow' | 'dim'>> = {
  high: 'red',
  medium: 'yellow',
  low: 'dim',
};
export const STATUS_LABELS: Readonly<Record<Check['status'], string>> = {
  found: 'found',
  clear: 'clear',
  'cannot-tell': 'cannot tell',
};
const DETECTOR_WIDTH = Math.max(...DETECTOR_IDS.map((id) => id.length)) + 2;
/** Limits of what is shown; the JSON has everything. */
const MAX_FRAMES = 6;
const MAX_PARTS = 6;

export function findingsText(
  report: FindingsReport,
  options: TextOptions,
  { shown, note }: DeviceOrder = fileOrder(report.devices),
): string[] {
  if (report.devices.length === 0) return ['No devices: nothing was allocated or recorded.'];
  const devices = shown.flatMap((position, i) => [
    ...(i === 0 ? [] : ['']),
    ...deviceText(report.devices[position], report.devices.length > 1, options),
  ]);
  return note === undefined ? devices : [...devices, '', note];
}

function deviceText(device: DeviceFindings, isNamed: boolean, options: TextOptions): string[] {
  const name = device.kind === 'host' ? 'Pinned host memory' : `Device ${device.device}`;
  const head = `${isNamed ? `${name}: ` : ''}${plural(device.findings.length, 'finding')}`;
  return [
    styled(head, 'bold', options),
    ...verdictText(device, options),
    ...device.findings.flatMap((finding) => ['', ...findingText(finding, options)]),
    '',
    styled('Checked', 'bold', options),
    ...device.checks.flatMap((check) => checkText(check, options)),
  ];
}

/** An empty line, the verdict, the line to look at, and what to try first. */
function verdictText({ verdict, account }: DeviceFindings, options: TextOptions): string[] {
  if (verdict === null) return [];
  const lines = [...verdictLines(verdict), ...accountLines(account)];
  return ['', ...lines.flatMap((line) => wrap(printable(line), options.columns))];
}

export function verdictLines({ cause, text, also, lines, advice }: VerdictReport): string[] {
  const [first] = lines;
  const { beside, callers } = otherLines(cause, lines);
  const besides = beside.map((line) => ` and ${frameText(line)}`).join('');
  const called = callers.map((caller) => `, called from ${frameText(caller)}`).join('');
  return [
    text,
    ...(first === undefined ? [] : [`Look at ${frameText(first)}${besides}${called}.`]),
    ...also,
    ...advice.map((one) => `Try: ${one.text}${gainText(one)}`),
  ];
}

/** ' Saves 1.51 GiB, enough.' */
function gainText({ savesBytes, isEnough }: VerdictReport['advice'][number]): string {
  if (savesBytes === null) return '';
  const enough = isEnough === null ? '' : isEnough ? ', enough' : ', not enough alone';
  return ` Saves ${formatBytes(savesBytes)}${enough}.`;
}

const MOMENTS = {
  oom: 'At the OOM',
  peak: 'At the peak',
  end: 'At the end',
  cursor: 'At the cursor',
} as const;
const MAX_ENTRIES = 6;

/** 'At the peak: 62.18 GiB kept autograd graphs, 394.06 MiB activations, …' */
function accountLines(account: DeviceFindings['account']): string[] {
  if (account === null || account.entries.length === 0) return [];
  const { entries, moment, reservedBytes } = account;
  const shown = entries.slice(0, MAX_ENTRIES);
  const rest = entries.slice(MAX_ENTRIES).reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = [
    ...shown.map(({ kind, bytes }) => `${formatBytes(bytes)} ${entryLabel(kind)}`),
    ...(rest > 0 ? [`${formatBytes(rest)} others`] : []),
  ];
  return [`${MOMENTS[moment.why]}, ${formatBytes(reservedBytes)} reserved: ${parts.join(', ')}.`];
}

function findingText(finding: FindingReport, options: TextOptions): string[] {
  const { columns } = options;
  const title = `${finding.severity.toUpperCase()} ${finding.detector}: ${finding.kind}, ${formatBytes(finding.bytes)} ${bytesAreOf(finding)}`;
  const paragraph = (text: string): string[] =>
    wrap(printable(text), columns - INDENT.length).map((line) => `${INDENT}${line}`);
  const { perStep } = finding;
  return [
    styled(title, SEVERITY_STYLES[finding.severity], options),
    ...paragraph(finding.claim),
    ...(perStep === null
      ? []
      : paragraph(
          `${finding.law === null || finding.law === 'flat' ? 'A step' : 'A step, on average'}: ${formatBytes(perStep.bytes)} in ${Number(perStep.count.toFixed(2))} tensors, over ${formatCount(perStep.steps)} steps.`,
        )),
    ...paragraph(placeText(finding)),
    ...finding.stack.slice(0, MAX_FRAMES).map((frame) => `${INDENT}at ${frameText(frame)}`),
    ...partsText(finding),
    ...finding.advice.flatMap((advice) =>
      wrap(`- ${printable(advice)}`, columns - INDENT.length, '  ').map((line) => INDENT + line),
    ),
  ];
}

/**
 * 'Made at run/b.py:3 (g). Your lines: a.py:9 (f), called from b.py:3 (g).' Empty if the stack already shows it: the
 * only user line is the innermost frame.
 */
export function placeText({ frame, frameIs, userLines }: FindingReport): string {
  const [innermost, ...callers] = userLines;
  if (frame === null || innermost === undefined) return '';
  const is = frameIs === null ? '' : `${sentenceCase(frameIs)} ${frameText(frame)}. `;
  if (callers.length === 0) return is.trimEnd();
  const short = ({ file, line, name }: FrameReport) =>
    printable(frameLabel({ filename: file, line, name }));
  const from = callers.map((line) => `called from ${short(line)}`);
  return `${is}Your lines: ${[short(innermost), ...from].join(', ')}.`;
}

/** A single part is the finding itself. */
function partsText({ parts }: FindingReport): string[] {
  if (parts.length < 2) return [];
  const rest = parts.length - MAX_PARTS;
  return [
    ...parts
      .slice(0, MAX_PARTS)
      .map(
        ({ frame, bytes, count, note }) =>
          `${INDENT}${formatBytes(bytes).padStart(11)}  ${String(count).padStart(6)} × ${frame === null ? '(no stack)' : frameText(frame)}, ${note}`,
      ),
    ...(rest > 0 ? [`${INDENT}and ${plural(rest, 'more part')}, see --json`] : []),
  ];
}

/**
 * With the full path, which terminals and editors can open. C++ frames without a known file get only the short name.
 */
export function frameText({ file, line, name }: FrameReport): string {
  const frame = { name, filename: file, line };
  const does = functionText(frame);
  const text = frameLocation(frame) === undefined ? does : `${fullPlace(frame)} (${does})`;
  return printable(text);
}

function checkText({ detector, status, reason }: Check, { columns }: TextOptions): string[] {
  const head = `  ${STATUS_LABELS[status].padEnd(12)}${detector.padEnd(DETECTOR_WIDTH)}`;
  const lines = wrap(printable(reason), columns - head.length);
  return lines.map((line, i) => `${i === 0 ? head : ' '.repeat(head.length)}${line}`);
}
