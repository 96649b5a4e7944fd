/** Findings as Markdown, for an issue or a chat. */

import { entryLabel } from '../../analysis/account/types.ts';
import { bytesAreOf, type Check } from '../../analysis/findings/detectors.ts';
import { formatBytes } from '../../base/format.ts';
import type { DeviceFindings, FindingReport, FindingsReport } from './findings.ts';
import { frameText, placeText, STATUS_LABELS, verdictLines } from './findings-text.ts';
import { type DeviceOrder, fileOrder, inline } from './text.ts';

const MAX_PARTS = 10;

export function findingsMarkdown(
  report: FindingsReport,
  { shown, note }: DeviceOrder = fileOrder(report.devices),
): string[] {
  const inOrder = shown.map((position) => report.devices[position]);
  const devices = inOrder.flatMap((device) => [
    '',
    `## ${device.kind === 'host' ? 'Pinned host memory' : `Device ${device.device}`}`,
    ...verdictMarkdown(device),
    ...(device.findings.length === 0 ? ['', 'No findings.'] : []),
    ...device.findings.flatMap(findingMarkdown),
    '',
    '| check | result | |',
    '|---|---|---|',
    ...device.checks.map(checkRow),
  ]);
  const rest = note === undefined ? [] : ['', note];
  return [`# Findings in ${inline(report.file.name)}`, ...devices, ...rest];
}

function verdictMarkdown({ verdict, account }: DeviceFindings): string[] {
  if (verdict === null) return [];
  const [text, ...others] = verdictLines(verdict).map(inline);
  return ['', `**${text}**`, '', ...others.map((line) => `- ${line}`), ...accountTable(account)];
}

/** Every reserved byte of the moment, one row per entry. */
function accountTable(account: DeviceFindings['account']): string[] {
  if (account === null || account.entries.length === 0) return [];
  const { moment, reservedBytes, entries } = account;
  const rows = entries.map(({ kind, bytes, count, lines, perStep }) => {
    const rate = perStep === undefined ? '' : `${formatBytes(perStep.bytes)} a ${perStep.unit}`;
    const line = lines[0] === undefined ? '' : inline(frameText(lines[0]));
    return `| ${formatBytes(bytes)} | ${entryLabel(kind)} | ${count} | ${rate} | ${line} |`;
  });
  return [
    '',
    `${formatBytes(reservedBytes)} reserved ${WHEN[moment.why]}:`,
    '',
    '| bytes | what | blocks | rate | line |',
    '|---:|---|---:|---|---|',
    ...rows,
  ];
}

const WHEN = {
  oom: 'at the OOM',
  peak: 'at the peak',
  end: 'at the end',
  cursor: 'at the cursor',
} as const;

function findingMarkdown(finding: FindingReport): string[] {
  const { parts, stack } = finding;
  return [
    '',
    `### ${finding.severity}: ${finding.detector}, ${finding.kind} (${formatBytes(finding.bytes)} ${bytesAreOf(finding)})`,
    '',
    inline(finding.claim),
    ...(placeText(finding) === '' ? [] : ['', inline(placeText(finding))]),
    ...(stack.length === 0 ? [] : ['', '```', ...stack.map(fenced), '```']),
    ...(parts.length < 2
      ? []
      : [
          '',
          '| bytes | count | where | |',
          '|---:|---:|---|---|',
          ...parts
            .slice(0, MAX_PARTS)
            .map(
              ({ bytes, count, frame, note }) =>
                `| ${formatBytes(bytes)} | ${count} | ${inline(frame === null ? '(no stack)' : frameText(frame))} | ${inline(note)} |`,
            ),
          ...(parts.length > MAX_PARTS
            ? ['', `Not shown: ${parts.length - MAX_PARTS} more parts.`]
            : []),
        ]),
    '',
    ...finding.advice.map((advice) => `- ${inline(advice)}`),
    '',
    `What would disprove it: ${inline(finding.disproof)}`,
  ];
}

function fenced(frame: FindingReport['stack'][number]): string {
  return frameText(frame).replaceAll('```', "'''");
}

const checkRow = ({ detector, status, reason }: Check): string =>
  `| ${detector} | ${STATUS_LABELS[status]} | ${inline(reason)} |`;
