import { existsSync, readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { analyseJob } from '../../analysis/ranks/analyse-job.ts';
import { type Layout, parseLayout } from '../../analysis/ranks/number-files.ts';
import { rankOfName } from '../../analysis/summary-file/rank-of-name.ts';
import { summarize, summaryText } from '../../analysis/summary-file/summarize.ts';
import { SUMMARY_EXTENSION } from '../../analysis/summary-file/types.ts';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { buildRanks, ranksText } from '../../output/report/ranks.ts';
import type { CliIo } from '../cli-io.ts';
import {
  AS_FOR_STATS,
  addFileOptions,
  addPrintOptions,
  commandOf,
  type FileOptions,
  type PrintOptions,
  parseWhole,
  printReport,
  writeMade,
} from '../output-options.ts';
import { rankFiles, readRanks } from '../rank-files.ts';

interface RanksOptions extends PrintOptions {
  readonly pattern?: RegExp;
  readonly layout?: Layout;
  readonly jobs?: number;
}

const RANKS_EXAMPLES = `
  vramscope ranks snapshots/
  vramscope ranks rank*.pickle.gz --markdown > ranks.md
  vramscope ranks snapshots/ --pattern 'gpu(\\d+)' --layout pp4,tp2
  ls snapshots/*.pickle | xargs -P 8 -I{} vramscope summarize {}; vramscope ranks .
`;

export function ranksCommand(io: CliIo, version: string): Command {
  const about = 'compare the ranks of a job: which one is unlike the others, and why';
  const command = commandOf('ranks', about, RANKS_EXAMPLES)
    .argument('<paths...>', 'folders, snapshots and summaries (see summarize)')
    .option(
      '--pattern <regexp>',
      "how to find the rank in a path, as a group: 'gpu(\\d+)' (default: rank3, rank_00003, r3)",
      parsePattern,
    )
    .option(
      '--layout <sizes>',
      'roles by the sizes of the device mesh, outermost first (pp4,tp2), or a JSON file with the ranks of each role',
      readLayout,
    )
    .option('--jobs <number>', 'snapshots to read at a time (default: one per core)', parseWhole);
  return addPrintOptions(command, 'ranks/1', 'an issue or a chat').action(
    async (paths: string[], options: RanksOptions) => {
      const files = await readRanks(await rankFiles(paths), {
        version,
        allowPartial: options.partial === true,
        jobs: options.jobs,
        workerScript: io.workerScript,
        onProgress: (done, total) => io.showProgress(`reading: ${done} of ${total} files`),
      });
      io.showProgress('');
      const unread = files.filter((file) => 'failure' in file);
      const [first] = unread;
      if (unread.length === files.length && first !== undefined) {
        const { code, message } = first.failure;
        const more = unread.length === 1 ? '' : ` The same goes for all ${unread.length} files.`;
        throw new LoadError({ code, message: `${first.path}: ${message}${more}` });
      }
      const job = analyseJob(files, options);
      printReport(io, options, {
        json: () => buildRanks(job),
        text: (write) => ranksText(job, write),
      });
    },
  );
}

const parsePattern = parsing((text) => new RegExp(text));
const readLayout = parsing((text) =>
  parseLayout(existsSync(text) ? readFileSync(text, 'utf8') : text),
);

/** What `parse` throws becomes a usage error. */
function parsing<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`${errorText(error)}.`);
    }
  };
}

interface SummarizeOptions extends FileOptions {
  readonly rank?: number;
}

const SUMMARIZE_EXAMPLES = `
  vramscope summarize rank3.pickle
  vramscope summarize rank3.pickle -o summaries/rank3.vramscope.json
  srun vramscope summarize snapshot_$SLURM_PROCID.pickle --rank $SLURM_PROCID
Then: vramscope ranks summaries/
`;

export function summarizeCommand(io: CliIo, version: string): Command {
  const about = "write a summary of one rank's snapshot, 64 kB at most, for `vramscope ranks`";
  const command = commandOf('summarize', about, SUMMARIZE_EXAMPLES)
    .argument('<file>', AS_FOR_STATS)
    .option('--rank <number>', "the rank (default: as in the file's name)", parseWhole);
  return addFileOptions(command).action((path: string, options: SummarizeOptions) =>
    writeMade(io, path, options, SUMMARY_EXTENSION, async ({ file, contexts }) => {
      const rank = options.rank ?? rankOfName(path);
      return [summaryText(await summarize(file, contexts, { version, rank }))];
    }),
  );
}
