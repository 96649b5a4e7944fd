/** What commands share: the file they read, the report they print, the file they write and its device. */
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { snapshotStem } from '../base/file-names.ts';
import { LoadError } from '../base/load-error.ts';
import { jsonText } from '../base/unprintable.ts';
import {
  deviceOrder,
  MARKDOWN,
  type TextOptions,
  terminalWriter,
  type Writer,
} from '../output/report/text.ts';
import type { CliIo } from './cli-io.ts';
import { type OpenedSnapshot, openSnapshot } from './open-snapshot.ts';
import { checkTarget, writeOutput } from './write-output.ts';

/** @param examples lines for the end of its help */
export const commandOf = (name: string, description: string, examples: string): Command =>
  new Command(name).description(description).addHelpText('after', `\nExamples:${examples}`);

/** `stats` and `analyze` print it in full; other commands refer to it. */
export const SNAPSHOT_ARGUMENT =
  "a snapshot: pickle, gzip, zip, zstd, trace_plot's HTML or JSON; - for stdin";
export const AS_FOR_STATS = 'a snapshot, as for stats; - for stdin';

export interface PrintOptions {
  readonly json?: true;
  readonly markdown?: true;
  readonly partial?: true;
}

/** The forms of a command's report, each made on demand. */
export interface Printable {
  readonly json: () => unknown;
  /** For a terminal, or as Markdown. */
  readonly text: (write: Writer, style: TextOptions) => readonly string[];
}

export function printReport(io: CliIo, { json, markdown }: PrintOptions, report: Printable): void {
  const { columns, color } = io;
  const lines = json
    ? [jsonText(report.json())]
    : report.text(markdown ? MARKDOWN : terminalWriter({ columns, color }), { columns, color });
  io.writeOut(`${lines.join('\n')}\n`);
}

const PARTIAL = ['--partial', 'read a truncated file up to the damage'] as const;

/**
 * The options of a command that prints a report.
 * @param markdownFor where it is pasted; undefined: the report has no such form
 */
export function addPrintOptions(command: Command, schema: string, markdownFor?: string): Command {
  const json = new Option('--json', `print JSON of the schema vramscope.${schema}`);
  if (markdownFor !== undefined) {
    command.option('--markdown', `print Markdown, for ${markdownFor}`);
    json.conflicts('markdown');
  }
  return command.addOption(json).option(...PARTIAL);
}

export interface FileOptions {
  readonly output?: string;
  readonly force?: true;
  readonly partial?: true;
}

export interface OutputOptions extends FileOptions {
  readonly device?: number;
}

export function addFileOptions(command: Command): Command {
  return command
    .option('-o, --output <path>', 'output file (default: named after the snapshot)')
    .option('--force', 'overwrite an existing file')
    .option(...PARTIAL);
}

export function addOutputOptions(command: Command): Command {
  return addFileOptions(command).option(
    '--device <position>',
    'position of the device in the file (default: the one with the highest peak)',
    parseWhole,
  );
}

/**
 * Reads a snapshot and writes what is made of it. Without --output: a file in the working directory, named after the
 * input path. Names inside the file are never used, since they come from somebody else.
 */
export async function writeMade(
  io: CliIo,
  input: string,
  options: FileOptions,
  extension: string,
  make: (opened: OpenedSnapshot) => Pieces | Promise<Pieces>,
): Promise<void> {
  const stem = input === '-' ? 'stdin' : snapshotStem(basename(input));
  const path = options.output ?? `${stem}.${extension}`;
  const target = { path, input, force: options.force === true };
  await checkTarget(io, target);
  await writeOutput(io, target, await make(await openSnapshot(io, input, options)));
}

type Pieces = Iterable<string | Uint8Array>;

/**
 * The device at that position, by default the main one.
 * @throws LoadError 'no-such-device'
 */
export function deviceOf(
  { file, contexts }: Pick<OpenedSnapshot, 'file' | 'contexts'>,
  position = deviceOrder(contexts).shown[0] ?? 0,
) {
  const context = contexts[position];
  if (context !== undefined) return { context, position };
  const message = `${file.name} has no device at position ${position}; it has ${contexts.length}.`;
  throw new LoadError({ code: 'no-such-device', message });
}

/** Parses an option's integer, 0 or higher. */
export function parseWhole(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Enter a number, 0 or higher.');
}
