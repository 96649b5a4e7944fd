/** A job as Markdown, for an issue or a chat. */
import { outlierTitle, ranksTable, roleFacts } from '../../analysis/ranks/ranks-report.ts';
import type { Job } from '../../analysis/ranks/types.ts';
import { inline, markdownRow } from './text.ts';

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
