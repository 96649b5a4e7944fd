/** A job as Markdown, for an issue or a chat. */
import { outlierTitle, ranksTable, roleFacts } from '../ranks/ranks-table.ts';
import type { Job } from '../ranks/types.ts';
import { inline } from './findings-markdown.ts';

/** Lines without an end of line. */
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
    ...roleFacts(job).map(
      ({ name, ranks, peak, about }) =>
        `| ${inline(name)} | ${ranks} | ${peak} | ${inline(about)} |`,
    ),
    '',
    tableRow(header),
    '|---:|---|---:|---:|---:|---:|---|',
    ...rows.map(tableRow),
    ...(rest === '' ? [] : ['', rest]),
    ...(job.problems.length === 0
      ? []
      : ['', '## Files', '', ...job.problems.map(({ message }) => `- ${inline(message)}`)]),
  ];
}

const tableRow = (cells: readonly string[]): string => `| ${cells.map(inline).join(' | ')} |`;
