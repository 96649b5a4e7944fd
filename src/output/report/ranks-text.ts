/** `vramscope ranks` for a terminal: the verdict first, then outliers, roles, ranks, and what the files lack. */
import { outlierTitle, ranksTable, roleFacts } from '../../analysis/ranks/ranks-report.ts';
import type { Job } from '../../analysis/ranks/types.ts';
import { printable, styled, type TextOptions, textTable, wrap } from './text.ts';

const INDENT = '    ';

/** Lines without an end of line. */
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
