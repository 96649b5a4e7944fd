import { existsSync, readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { analyseJob } from '../../analysis/ranks/analyse-job.ts';
import { type Layout, parseLayout } from '../../analysis/ranks/layout.ts';
import { ranksReport } from '../../analysis/ranks/ranks-report.ts';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { ranksMarkdown } from '../../output/report/ranks-markdown.ts';
import { ranksText } from '../../output/report/ranks-text.ts';
import type { CliIo } from '../cli-io.ts';
import { type PrintOptions, parseWhole, printReport, refuseTwoForms } from '../output-options.ts';
import { rankFiles } from '../ranks/rank-files.ts';
import { readRanks } from '../ranks/read-ranks.ts';

interface RanksOptions extends PrintOptions {
  readonly partial?: true;
  readonly pattern?: RegExp;
  readonly layout?: Layout;
  readonly jobs?: number;
}

const EXAMPLES = `
Examples:
  vramscope ranks snapshots/
  vramscope ranks rank*.pickle.gz --markdown > ranks.md
  vramscope ranks snapshots/ --pattern 'gpu(\\d+)' --layout pp4,tp2
  ls snapshots/*.pickle | xargs -P 8 -I{} vramscope summarize {}; vramscope ranks .
`;

export function ranksCommand(io: CliIo, version: string): Command {
  return new Command('ranks')
    .description('compare the ranks of a job: which one is unlike the others, and why')
    .argument('<paths...>', 'folders, snapshots and summaries (see summarize)')
    .option('--json', 'print JSON of the schema vramscope.ranks/1')
    .option('--markdown', 'print Markdown, for an issue or a chat')
    .option(
      '--pattern <regexp>',
      "where the rank stands in a path, as a group: 'gpu(\\d+)' (default: rank3, rank_00003, r3)",
      parsePattern,
    )
    .option(
      '--layout <sizes>',
      'roles by the sizes of the device mesh, outermost first (pp4,tp2), or a JSON file with the ranks of each role',
      readLayout,
    )
    .option('--jobs <number>', 'snapshots to read at a time (default: one per core)', parseWhole)
    .option('--partial', 'read truncated files up to the damage')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: RanksOptions, command: Command) => {
      refuseTwoForms(options, command);
      const { files, unread } = await readRanks(await rankFiles(paths), {
        version,
        allowPartial: options.partial === true,
        jobs: options.jobs,
        workerScript: io.workerScript,
        onProgress: (done, total) => io.showProgress(`reading: ${done} of ${total} files`),
      });
      io.showProgress('');
      const [first] = unread;
      if (files.length === 0 && first !== undefined) {
        const { code, message } = first.failure;
        const more = unread.length === 1 ? '' : ` So it is with all ${unread.length} files.`;
        throw new LoadError({ code, message: `${first.path}: ${message}${more}` });
      }
      const job = analyseJob(files, { pattern: options.pattern, layout: options.layout, unread });
      printReport(io, options, {
        json: () => ranksReport(job),
        markdown: () => ranksMarkdown(job),
        text: (style) => ranksText(job, style),
      });
    });
}

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new InvalidArgumentError(`${errorText(error)}.`);
  }
}

function readLayout(text: string): Layout {
  try {
    return parseLayout(existsSync(text) ? readFileSync(text, 'utf8') : text);
  } catch (error) {
    throw new InvalidArgumentError(`${errorText(error)}.`);
  }
}
