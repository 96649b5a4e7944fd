/** `vramscope ranks` for terminals and Markdown: the verdict, then outliers, roles, ranks, and problems with files. */
import { outlierTitle, ranksTable, roleFacts } from '../../analysis/ranks/ranks-report.ts';
import type { Job } from '../../analysis/ranks/types.ts';
import {
  inline,
  markdownRow,
  printable,
  styled,
  type TextOptions,
  textTable,
  wrap,
} from './text.ts';

const INDENT = '    ';

export function ranksText(job: Job, options: TextOptions): string[] {
  const paragraph = (text: string, indent = '') =>
    wrap(printable(text), options.columns - indent.length).map((line) => indent + line);
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', styled(title, 'bold', options), ...lines];
  const { header, rows, rest } = ranksTable(job);
  return [
    ...paragraph(job.verdict),
    ...section(
      'Outliers',
      job.outliers.flatMap((outlier) => [
        styled(printable(outlierTitle(outlier)), 'yellow', options),
        ...paragraph(outlier.claim, INDENT),
      ]),
    ),
    ...section('Roles', job.roles.length === 0 ? [] : roleLines(job)),
    ...section('Peaks', rows.length === 0 ? [] : textTable([header, ...rows]).map(printable)),
    ...(rest === '' ? [] : [rest]),
    ...section(
      'Files',
      job.problems.flatMap(({ message }) => wrap(`- ${printable(message)}`, options.columns, '  ')),
    ),
  ];
}

function roleLines(job: Job): string[] {
  return roleFacts(job).map(({ name, ranks, peak, about }) =>
    printable(`${name}  ${ranks}, ${peak}: ${about}`),
  );
}

export function ranksMarkdown(job: Job): string[] {
  const { header, rows, rest } = ranksTable(job);
  return [
    '# Memory of the ranks',
    '',
    `**${inline(job.verdict)}**`,
    ...job.outliers.flatMap((outlier) => [
      '',
      `## ${inline(outlierTitle(outlier))}`,
      '',
      inline(outlier.claim),
    ]),
    '',
    '| role | ranks | peak allocated | |',
    '|---|---|---:|---|',
    ...roleFacts(job).map(({ name, ranks, peak, about }) =>
      markdownRow([name, ranks, peak, about]),
    ),
    '',
    markdownRow(header),
    '|---:|---|---:|---:|---:|---:|---|',
    ...rows.map(markdownRow),
    ...(rest === '' ? [] : ['', rest]),
    ...(job.problems.length === 0
      ? []
      : ['', '## Files', '', ...job.problems.map(({ message }) => `- ${inline(message)}`)]),
  ];
}
