/** `vramscope analyze` for a terminal, and as Markdown for an issue or a chat: what was found, and what was checked. */

import { mostText } from '../../analysis/account/line-share.ts';
import { burstsText, entryLabel, isKept, isRate } from '../../analysis/account/types.ts';
import { bytesAreOf, type Check } from '../../analysis/findings/detectors.ts';
import { WHEN } from '../../analysis/verdict/sentences.ts';
import { gainText, otherLines, peakCheck } from '../../analysis/verdict/types.ts';
import { formatBytes, formatCount, plural, sentenceCase, withArticle } from '../../base/format.ts';
import { rowNote, sampleText } from '../../device/model/card.ts';
import {
  type FrameReport,
  frameLabel,
  frameLocation,
  fullPlace,
  functionText,
} from '../../device/model/frame-text.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import { absenceText } from '../../device/model/stacks.ts';
import type {
  DeviceFindings,
  FindingReport,
  FindingsReport,
  RateReport,
  VerdictReport,
} from './findings.ts';
import { deviceName } from './summary-text.ts';
import { type DeviceOrder, fileOrder, printable, type Writer } from './text.ts';

const SEVERITY_STYLES = { high: 'red', medium: 'yellow', low: 'dim' } as const;
const STATUS_LABELS = { found: 'found', clear: 'clear', 'cannot-tell': 'cannot tell' } as const;
/** The JSON has all. */
const MAX_PARTS = 10;

export function findingsText(
  { file, devices }: FindingsReport,
  write: Writer,
  { shown, note }: DeviceOrder = fileOrder(devices),
  codeOf: CodeOf = () => undefined,
): string[] {
  if (devices.length === 0) return ['No devices: nothing was allocated or recorded.'];
  const texts = shown.flatMap((position, i) => [
    ...(i === 0 ? [] : ['']),
    ...deviceLines(devices[position], file.name, write, codeOf),
  ]);
  return note === undefined ? texts : [...texts, '', note];
}

/** A line's text, if it is known. */
type CodeOf = (line: FrameReport) => string | undefined;

function deviceLines(
  device: DeviceFindings,
  fileName: string,
  write: Writer,
  codeOf: CodeOf,
): string[] {
  const { verdict, account, most, findings, checks, vendor } = device;
  const name = deviceName({ ...device, accelerator: vendor && { vendor } });
  return [
    ...write.heading(
      findings.length === 0
        ? `${fileName}, ${name}: no findings beside the verdict`
        : `${plural(findings.length, 'finding')} in ${fileName}, ${name}`,
    ),
    ...(verdict === null ? [] : verdictLines(verdict, write, codeOf)),
    ...(most && account
      ? write.list([`${frameText(most)} ${mostText(most, WHEN[account.moment.why])}.`])
      : []),
    ...accountLines(device, write),
    ...findings.flatMap((finding) =>
      write.section(
        `${finding.severity.toUpperCase()} ${finding.detector}: ${finding.kind}, ${formatBytes(finding.bytes)} ${bytesAreOf(finding)}`,
        findingLines(finding, write.inner),
        SEVERITY_STYLES[finding.severity],
      ),
    ),
    ...write.section(
      'Checked',
      write.list([
        ...checks.map((check) => checkText(check.detector, check)),
        ...peakChecks(verdict),
      ]),
    ),
  ];
}

/** The verdict, the line to look at, and what to try first. */
function verdictLines(
  { cause, text, also, lines, advice }: VerdictReport,
  write: Writer,
  codeOf: CodeOf,
): string[] {
  const [first] = lines;
  const { beside, callers } = otherLines(cause, lines);
  const besides = beside.map((line) => ` and ${frameText(line)}`).join('');
  const called = callers.map((caller) => `, called from ${frameText(caller)}`).join('');
  const look = first === undefined ? [] : [`Look at ${frameText(first)}${besides}${called}.`];
  const code = first && codeOf(first);
  return [
    ...write.verdict(text),
    ...(code ? [...write.list(look), ...write.inner.paragraph(code)] : []),
    ...write.list([
      ...(code ? [] : look),
      ...also,
      ...advice.map((one) => `Try: ${one.text} ${gainText(one)}`.trimEnd()),
    ]),
  ];
}

const MOMENTS = {
  oom: 'At the OOM',
  peak: 'At the peak',
  end: 'At the end',
  cursor: 'At the cursor',
} as const;

/** '86.40 MiB a step', '256.00 MiB in each of 9 of 270 steps' */
function rateText(rate: RateReport): string {
  const { bytes, steps, unit } = rate;
  const bursts = burstsText(rate);
  if (bursts !== undefined) return bursts;
  return `${formatBytes(bytes)} ${withArticle(unit)}${isRate(rate) ? '' : `, ${plural(steps, 'time')}`}`;
}

/** Every reserved byte of the moment, one row per entry. */
function accountLines({ account }: DeviceFindings, write: Writer): string[] {
  if (account === null) return [];
  const rows = account.entries.map(({ kind, bytes, count, lines: [line], perStep, growing }) => [
    line === undefined || kind === 'gaps'
      ? entryLabel(kind)
      : `${entryLabel(kind)}, ${isKept(kind) || kind === 'growing' ? '' : 'largest at '}${placeOf(line)}`,
    formatBytes(bytes),
    formatCount(count),
    perStep === undefined || !growing ? '' : rateText(perStep),
  ]);
  const title = `${MOMENTS[account.moment.why]}, ${formatBytes(account.reservedBytes)} reserved`;
  return [
    ...write.section(title, write.table([['', 'bytes', 'blocks', 'rate'], ...rows])),
    ...cardLines(account, write),
  ];
}

/** 'other processes: 577: 61.00 GiB' */
function noteOf(row: LedgerRow & { readonly label: string }): string[] {
  const note = rowNote(row);
  return note === '' ? [] : [`${row.label}: ${note}`];
}

/** The whole card: what the allocator of this process does not see. */
function cardLines({ card }: NonNullable<DeviceFindings['account']>, write: Writer): string[] {
  if (card === null) return [];
  const { totalBytes, rows, sample, unknown } = card;
  const title =
    totalBytes === null || sample === null
      ? 'The card, as far as the OOM says it'
      : `The card, ${formatBytes(totalBytes)}, ${sampleText(sample)}`;
  return write.section(title, [
    ...write.table([['', 'bytes'], ...rows.map((row) => [row.label, formatBytes(row.bytes)])]),
    ...write.list([...rows.flatMap(noteOf), ...unknown]),
  ]);
}

function findingLines(finding: FindingReport, write: Writer): string[] {
  const { perStep, stack, parts, law } = finding;
  const mean = law === null || law === 'flat' ? '' : ', on average';
  const place = placeText(finding);
  const rows = parts
    .slice(0, MAX_PARTS)
    .map(({ frame, stackKind, bytes, count, note }) => [
      `${frame === null ? absenceText(stackKind) : frameText(frame)}, ${note}`,
      formatBytes(bytes),
      formatCount(count),
    ]);
  const rest =
    parts.length > MAX_PARTS
      ? `and ${plural(parts.length - MAX_PARTS, 'more part')} (--json has all)`
      : '';
  return [
    ...write.paragraph(finding.claim),
    ...(perStep === null || law === 'in-bursts'
      ? []
      : write.paragraph(
          `${sentenceCase(withArticle(perStep.unit))}${mean}: ${formatBytes(Math.round(perStep.bytes))} in ${Number(perStep.count.toFixed(2))} ${perStep.count === 1 ? 'tensor' : 'tensors'}, ${mean === '' ? plural(perStep.steps, 'time') : `over ${formatCount(perStep.steps)} of them`}.`,
        )),
    ...(place === '' ? [] : write.paragraph(place)),
    ...write.code(stack.map(frameText)),
    // A single part is the finding itself.
    ...(parts.length < 2 ? [] : write.table([['', 'bytes', 'count'], ...rows], rest)),
    ...write.list(finding.advice),
    ...write.paragraph(`What would disprove it: ${finding.disproof}`),
  ];
}

/**
 * 'Made at run/b.py:3 (g). Your lines: a.py:9 (f), called from b.py:3 (g).' Empty if the stack already shows it: the
 * only user line is the innermost frame.
 */
function placeText({ frame, frameIs, userLines }: FindingReport): string {
  const [innermost, ...callers] = userLines;
  if (frame === null || innermost === undefined) return '';
  const is = frameIs === null ? '' : `${sentenceCase(frameIs)} ${frameText(frame)}. `;
  if (callers.length === 0) return is.trimEnd();
  const from = callers.map((line) => `called from ${shortText(line)}`);
  return `${is}Your lines: ${[shortText(innermost), ...from].join(', ')}.`;
}

const placeOf = ({ file, line, name }: FrameReport): string =>
  frameLocation({ filename: file, line, name }) ?? functionText({ filename: file, name });

const shortText = ({ file, line, name }: FrameReport): string =>
  printable(frameLabel({ filename: file, line, name }));

/**
 * With the full path, which terminals and editors can open. C++ frames without a known file get only the short name.
 */
export function frameText({ file, line, name }: FrameReport): string {
  const frame = { name, filename: file, line };
  const does = functionText(frame);
  const text = frameLocation(frame) === undefined ? does : `${fullPlace(frame)} (${does})`;
  return printable(text);
}

/** 'growth: found. 2 findings' */
const checkText = (name: string, { status, reason }: Pick<Check, 'status' | 'reason'>): string =>
  `${name}: ${STATUS_LABELS[status]}. ${sentenceCase(reason)}`;

const peakChecks = (verdict: VerdictReport | null): string[] =>
  verdict === null
    ? []
    : peakCheck({ ...verdict, pattern: verdict.pattern ?? undefined }).map((check) =>
        checkText(check.about, check),
      );
