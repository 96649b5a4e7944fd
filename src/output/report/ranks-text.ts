/** `vramscope ranks` for terminals and Markdown: the verdict, then outliers, roles, ranks, and problems with files. */
import { outlierTitle, ranksTable, roleFacts } from '../../analysis/ranks/ranks-report.ts';
import type { Job } from '../../analysis/ranks/types.ts';
import {
  inline,
  MARKDOWN,
  printable,
  styled,
  type TextOptions,
  terminalWriter,
  type Writer,
  wrap,
} from './text.ts';

const INDENT = '    ';

export function ranksText(job: Job, options: TextOptions): string[] {
  const write = terminalWriter(options);
  const outliers = job.outliers.flatMap((outlier) => [
    styled(printable(outlierTitle(outlier)), 'yellow', options),
    ...wrap(printable(outlier.claim), options.columns - INDENT.length).map((line) => INDENT + line),
  ]);
  return [
    ...write.paragraph(job.verdict),
    ...write.section('Outliers', outliers),
    ...sections(job, write),
  ];
}

export const ranksMarkdown = (job: Job): string[] => [
  '# Memory of the ranks',
  '',
  `**${inline(job.verdict)}**`,
  ...job.outliers.flatMap((outlier) =>
    MARKDOWN.section(outlierTitle(outlier), [inline(outlier.claim)]),
  ),
  ...sections(job, MARKDOWN),
];

function sections(job: Job, write: Writer): string[] {
  const { header, rows, rest } = ranksTable(job);
  const roles = roleFacts(job).map(({ name, ranks, peak, about }) => [name, ranks, peak, about]);
  return [
    ...write.section('Roles', write.table([['role', 'ranks', 'peak allocated', ''], ...roles])),
    ...write.section('Peaks', write.table([header, ...rows], rest)),
    ...write.section(
      'Files',
      job.problems.flatMap(({ message }) => write.item(message)),
    ),
  ];
}
