import { Command, Option } from 'commander';
import { snapshotStem } from '../../core/base/file-names.ts';
import { LoadError } from '../../core/base/load-error.ts';
import { exportFile } from '../../core/export/export-file.ts';
import { EXPORT_KINDS, type ExportKind, exportFormat } from '../../core/export/export-kinds.ts';
import type { CliIo } from '../cli-io.ts';
import { deviceOf, parseWhole } from '../device-option.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { writeOutput } from '../write-output.ts';

interface ExportOptions {
  readonly as: ExportKind;
  readonly output?: string;
  readonly device: number;
  readonly partial?: true;
}

const EXAMPLES = `
Examples:
  vramscope export snapshot.pickle --as allocations-arrow   read it with pandas, Polars or DuckDB
  vramscope export snapshot.pickle --as perfetto            open it at https://ui.perfetto.dev
  vramscope export snapshot.pickle --as folded -o peak.txt  what the peak is made of, by stack
`;

export function exportCommand(io: CliIo): Command {
  return new Command('export')
    .description('a device as a file for other programs: CSV, Arrow, Perfetto, speedscope, folded')
    .argument('<file>', 'a snapshot of any kind; - is stdin')
    .addOption(
      new Option('--as <kind>', 'what to write').choices([...EXPORT_KINDS]).makeOptionMandatory(),
    )
    .option('-o, --output <path>', "where to write it (default: the snapshot's name)")
    .option('--device <position>', 'position of the device in the file', parseWhole, 0)
    .option('--partial', 'of a file that breaks off, take the whole events before the fault')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: ExportOptions) => {
      const { file, contexts } = await openSnapshot(io, path, {
        allowPartial: options.partial === true,
      });
      const context = deviceOf(contexts, options.device);
      const { extension } = exportFormat(options.as);
      const output = options.output ?? `${snapshotStem(file.name)}.${extension}`;
      try {
        await writeOutput(io, output, exportFile(context, options.as));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw new LoadError({ code: 'cannot-export', message: `${error.message}.` });
      }
    });
}
