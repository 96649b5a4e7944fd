import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { analyse } from '../../analysis/findings/analyse.ts';
import { LoadError } from '../../base/load-error.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import type { SourceTexts } from '../../format/snapshot/tables.ts';
import { encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { mayHoldSource, type PruneOptions, prune } from '../../format/snapshot-file/prune.ts';
import { EXPORT_KINDS, EXPORTS, type ExportKind } from '../../output/export/exports.ts';
import { reportPage } from '../../output/report/report-page.ts';
import { sourceExcerpts } from '../../output/report/source-excerpts.ts';
import { printable } from '../../output/report/text.ts';
import { type EventWindow, windowSnapshot } from '../../output/slice/window-snapshot.ts';
import type { CliIo } from '../cli-io.ts';
import {
  AS_FOR_STATS,
  addOutputOptions,
  commandOf,
  deviceOf,
  type OutputOptions,
  writeMade,
} from '../output-options.ts';
import { sourceReader } from '../serve/source-files.ts';

interface ExportOptions extends OutputOptions {
  readonly as: ExportKind;
}

const EXPORT_EXAMPLES = `
  vramscope export snapshot.pickle --as allocations-arrow   read it with pandas, Polars or DuckDB
  vramscope export snapshot.pickle --as perfetto            open it at https://ui.perfetto.dev
  vramscope export snapshot.pickle --as folded -o peak.txt  what the peak is made of, by stack
`;

export function exportCommand(io: CliIo): Command {
  const about = 'export one device to other tools: CSV, Arrow, Perfetto, speedscope, folded stacks';
  const command = commandOf('export', about, EXPORT_EXAMPLES)
    .argument('<file>', AS_FOR_STATS)
    .addOption(
      new Option('--as <kind>', 'the format to write')
        .choices([...EXPORT_KINDS])
        .makeOptionMandatory(),
    );
  return addOutputOptions(command).action((path: string, options: ExportOptions) => {
    const { extension, make } = EXPORTS[options.as];
    return writeMade(io, path, options, extension, (opened) =>
      make(deviceOf(opened, options.device).context),
    );
  });
}

interface ReportOptions extends OutputOptions {
  readonly events?: EventWindow;
  readonly notes: string;
  readonly shortPaths?: true;
  readonly stacks: boolean;
  readonly holders: boolean;
  /** False with --no-source. */
  readonly source?: string | false;
}

const REPORT_EXAMPLES = `
  vramscope report snapshot.pickle
  vramscope report snapshot.pickle -o ticket-4711.html --notes "OOM since we upgraded"
  vramscope report snapshot.pickle --short-paths --events 100000..200000
`;

export function reportCommand(io: CliIo, version: string): Command {
  const about = 'write one HTML file: the viewer with a device of the snapshot inside';
  const command = commandOf('report', about, REPORT_EXAMPLES)
    .argument('<file>', AS_FOR_STATS)
    .option(
      '--events <from..to>',
      'include only these events (the last one is exclusive)',
      parseEvents,
    )
    .option('--notes <text>', 'a note to whoever opens the report', '')
    .option('--short-paths', 'shorten paths to their last two parts')
    .option('--no-stacks', 'omit all call stacks')
    .option('--no-holders', 'omit the names of the variables that hold memory')
    .option(
      '--source <folder>',
      'include the lines of your code around those that the verdict and the findings name; those that the snapshot holds are included without it, unless something is shortened or omitted',
    )
    .option('--no-source', 'include no code');
  return addOutputOptions(command).action(async (path: string, options: ReportOptions) => {
    const shell = await readShell(io);
    await writeMade(io, path, options, 'html', async (opened) => {
      const { context } = deviceOf(opened, options.device);
      const { file } = opened;
      const parts = {
        paths: options.shortPaths ? 'last-two' : 'whole',
        stacks: options.stacks,
        holders: options.holders,
      } as const;
      const window = options.events ?? { from: 0, to: context.trace.events.length };
      const source = await sourceOf(io, context, parts, options.source);
      const part = prune(windowSnapshot(context, window), { ...parts, source });
      const page = reportPage(shell, {
        title: file.name,
        notes: options.notes,
        hash: '',
        madeAt: new Date().toISOString(),
        version,
        base64: gzipSync(encodeSnapshot(part, file), { level: 9 }).toString('base64'),
      });
      return [page];
    });
  });
}

/** The code that a report is to hold. */
async function sourceOf(
  io: CliIo,
  context: DeviceModel,
  parts: PruneOptions,
  folder: string | false | undefined,
): Promise<SourceTexts | undefined> {
  if (folder === false) return undefined;
  if (!mayHoldSource(parts)) {
    if (folder !== undefined)
      io.writeError('vramscope: a report that shortens or omits something holds no code\n');
    return undefined;
  }
  const read = await sourceReader(context.snapshot, folder);
  const found = read && (await sourceExcerpts(await analyse(context), read));
  if (folder !== undefined && found === undefined)
    io.writeError(
      `vramscope: ${printable(folder)} has no line that the verdict or the findings name\n`,
    );
  return found;
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
