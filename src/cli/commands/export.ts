import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LoadError } from '../../base/load-error.ts';
import { encodeSnapshot } from '../../format/snapshot-file/encode-snapshot.ts';
import { prune } from '../../format/snapshot-file/prune.ts';
import { EXPORT_KINDS, EXPORTS, type ExportKind } from '../../output/export/exports.ts';
import { reportPage } from '../../output/report/report-page.ts';
import { type EventWindow, windowSnapshot } from '../../output/slice/window-snapshot.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { addOutputOptions, deviceOf, type OutputOptions, outputTarget } from '../output-options.ts';
import { checkTarget, writeOutput } from '../write-output.ts';

interface ExportOptions extends OutputOptions {
  readonly as: ExportKind;
}

const EXPORT_EXAMPLES = `
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
    .addHelpText('after', EXPORT_EXAMPLES)
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

interface ReportOptions extends OutputOptions {
  readonly events?: EventWindow;
  readonly notes: string;
  readonly shortPaths?: true;
  readonly stacks: boolean;
  readonly holders: boolean;
}

const REPORT_EXAMPLES = `
Examples:
  vramscope report snapshot.pickle
  vramscope report snapshot.pickle -o ticket-4711.html --notes "OOM since we upgraded"
  vramscope report snapshot.pickle --short-paths --events 100000..200000
`;

export function reportCommand(io: CliIo, version: string): Command {
  const command = new Command('report')
    .description('write one HTML file: the viewer with a device of the snapshot inside')
    .argument('<file>', 'a snapshot, as for stats; - for stdin')
    .option(
      '--events <from..to>',
      'include only these events (the last one is exclusive)',
      parseEvents,
    )
    .option('--notes <text>', 'a note to whoever opens the report', '')
    .option('--short-paths', 'shorten paths to their last two parts')
    .option('--no-stacks', 'omit all call stacks')
    .option('--no-holders', 'omit the names of the variables that hold memory');
  return addOutputOptions(command)
    .addHelpText('after', REPORT_EXAMPLES)
    .action(async (path: string, options: ReportOptions) => {
      const target = outputTarget(path, options, 'html');
      await checkTarget(io, target);
      const shell = await readShell(io);
      const { file, contexts } = await openSnapshot(io, path, options);
      const context = deviceOf(contexts, options.device);
      const window = options.events ?? { from: 0, to: context.trace.events.length };
      const part = prune(windowSnapshot(context, window), {
        paths: options.shortPaths ? 'last-two' : 'whole',
        stacks: options.stacks,
        holders: options.holders,
      });
      const page = reportPage(shell, {
        title: file.name,
        notes: options.notes,
        hash: '',
        madeAt: new Date().toISOString(),
        version,
        base64: gzipSync(encodeSnapshot(part, file), { level: 9 }).toString('base64'),
      });
      await writeOutput(io, target, [page]);
    });
}

async function readShell({ pageFolder }: CliIo): Promise<string> {
  const path = join(pageFolder, 'vramscope.html');
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new LoadError({
      code: 'not-built',
      message: `Cannot find the page that reports are built from (${path}).`,
      advice: 'Run `npm run build` first.',
    });
  }
}

function parseEvents(text: string): EventWindow {
  const match = /^(\d{1,10})\.\.(\d{1,10})$/.exec(text);
  const window = { from: Number(match?.[1]), to: Number(match?.[2]) };
  if (window.from < window.to) return window;
  throw new InvalidArgumentError('Enter two event numbers, the lower first, such as 1000..2000.');
}
