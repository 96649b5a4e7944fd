import { Command, Option } from 'commander';
import { LoadError } from '../../base/load-error.ts';
import { EXPORT_KINDS, EXPORTS, type ExportKind } from '../../output/export/exports.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { addOutputOptions, deviceOf, type OutputOptions, outputTarget } from '../output-options.ts';
import { checkTarget, writeOutput } from '../write-output.ts';

interface ExportOptions extends OutputOptions {
  readonly as: ExportKind;
}

const EXAMPLES = `
Examples:
  vramscope export snapshot.pickle --as allocations-arrow   read it with pandas, Polars or DuckDB
  vramscope export snapshot.pickle --as perfetto            open it at https://ui.perfetto.dev
  vramscope export snapshot.pickle --as folded -o peak.txt  what the peak is made of, by stack
`;

export function exportCommand(io: CliIo): Command {
  const command = new Command('export')
    .description(
      'export one device to other tools: CSV, Arrow, Perfetto, speedscope, folded stacks',
    )
    .argument('<file>', 'a snapshot, as for stats; - for stdin')
    .addOption(
      new Option('--as <kind>', 'the format to write')
        .choices([...EXPORT_KINDS])
        .makeOptionMandatory(),
    );
  return addOutputOptions(command)
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: ExportOptions) => {
      const { extension, make } = EXPORTS[options.as];
      const target = outputTarget(path, options, extension);
      await checkTarget(io, target);
      const { contexts } = await openSnapshot(io, path, options);
      const context = deviceOf(contexts, options.device);
      try {
        await writeOutput(io, target, make(context));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new LoadError({ code: 'cannot-export', message: `${error.message}.` });
      }
    });
}
