import { Command } from 'commander';
import { rankOfName } from '../../analysis/summary-file/rank-of-name.ts';
import { summarize, summaryText } from '../../analysis/summary-file/summarize.ts';
import { SUMMARY_EXTENSION } from '../../analysis/summary-file/types.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { addFileOptions, type FileOptions, outputTarget, parseWhole } from '../output-options.ts';
import { checkTarget, writeOutput } from '../write-output.ts';

interface SummarizeOptions extends FileOptions {
  readonly rank?: number;
}

const EXAMPLES = `
Examples:
  vramscope summarize rank3.pickle
  vramscope summarize rank3.pickle -o summaries/rank3.vramscope.json
  srun vramscope summarize snapshot_$SLURM_PROCID.pickle --rank $SLURM_PROCID
Then: vramscope ranks summaries/
`;

export function summarizeCommand(io: CliIo, version: string): Command {
  const command = new Command('summarize')
    .description("write a summary of one rank's snapshot, 64 kB at most, for `vramscope ranks`")
    .argument('<file>', 'a snapshot, as for stats; - for stdin')
    .option('--rank <number>', "the rank (default: as in the file's name)", parseWhole);
  return addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: SummarizeOptions) => {
      const target = outputTarget(path, options, SUMMARY_EXTENSION);
      await checkTarget(io, target);
      const { file, contexts } = await openSnapshot(io, path, options);
      const rank = options.rank ?? rankOfName(path);
      const summary = await summarize(file, contexts, { version, rank });
      await writeOutput(io, target, [summaryText(summary)]);
    });
}
