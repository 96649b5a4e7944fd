import { Command, CommanderError } from 'commander';
import { formatCount } from '../base/format.ts';
import { LoadError, type LoadFailure } from '../base/load-error.ts';
import { printable, terminalText } from '../output/report/text.ts';
import { type CliIo, ExitCode, FailedOn, InterruptedError } from './cli-io.ts';
import { analyzeCommand, statsCommand } from './commands/analyze.ts';
import { compareCommand } from './commands/compare.ts';
import { exportCommand, reportCommand } from './commands/export.ts';
import { mcpCommand } from './commands/mcp.ts';
import { ranksCommand, summarizeCommand } from './commands/ranks.ts';
import { addServing } from './commands/serve.ts';
import { whatIfCommand } from './commands/whatif.ts';

const COMMANDS: readonly ((io: CliIo, version: string) => Command)[] = [
  statsCommand,
  analyzeCommand,
  whatIfCommand,
  compareCommand,
  ranksCommand,
  summarizeCommand,
  reportCommand,
  exportCommand,
  mcpCommand,
];

const HELP_AFTER = `
Examples:
  vramscope snapshot.pickle              show it in the browser
  vramscope snapshots/                   show the ranks of a job in the browser
  vramscope stats snapshot.pickle        its figures, here
  vramscope analyze snapshot.pickle      why memory ran out or grows
  vramscope compare a.pickle b.pickle    why b needs more than a
  vramscope ranks snapshots/             which rank of a job is unlike the others
  vramscope report snapshot.pickle       one HTML file to share
Exit codes: ${ExitCode.Fine} fine, ${ExitCode.Finding} something that --fail-on names, ${ExitCode.BadUsage} bad usage, ${ExitCode.Unreadable} the file could not be read or written.
`;

/** Runs one command line (without node and the script) and returns the exit code. Throws only for bugs of ours. */
export async function runCli(
  args: readonly string[],
  host: CliIo,
  version: string,
): Promise<number> {
  const io = withCleanOutput(host);
  const program = new Command('vramscope')
    .description('Shows where your GPU memory went, from a PyTorch memory snapshot.')
    .version(version, '-V, --version')
    // `report --source` is an option of `report`, though `vramscope FILE` has one of that name.
    .enablePositionalOptions()
    .addHelpText('after', HELP_AFTER);
  addServing(program, io);
  for (const create of COMMANDS) program.addCommand(create(io, version));
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => io.writeOut(text),
      writeErr: (text) => io.writeError(text),
      outputError: (text, write) => write(errorLine(text.replace(/^error: /, ''))),
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return ExitCode.Fine;
  } catch (error) {
    if (error instanceof InterruptedError) return error.exitCode;
    if (error instanceof FailedOn) return ExitCode.Finding;
    if (error instanceof CommanderError) return usageExit(error);
    if (!(error instanceof LoadError)) throw error;
    io.writeError(errorLine(failureText(error.failure)));
    return ExitCode.Unreadable;
  }
}

/** `--help` and `--version` also end with an error, whose exit code is 0. */
function usageExit({ exitCode }: CommanderError): ExitCode {
  return exitCode === 0 ? ExitCode.Fine : ExitCode.BadUsage;
}

/** The message, the byte where it failed, the advice, and how much can still be read. */
function failureText({ message, advice, byte, partialEvents }: LoadFailure): string {
  const where = byte === undefined ? '' : `(byte ${byte})`;
  const partial =
    partialEvents === undefined
      ? ''
      : `Use --partial to read the ${formatCount(partialEvents)} complete events before the damage.`;
  return [message, where, advice, partial].filter((part) => part !== '').join(' ');
}

/** Forces the error onto one line: commander puts its suggestions on a second. */
function errorLine(text: string): string {
  return `vramscope: ${printable(text.trim().replace(/\s*\n\s*/g, ' '))}\n`;
}

/** Keeps any text from the file from controlling the terminal. */
function withCleanOutput(io: CliIo): CliIo {
  return {
    ...io,
    writeOut: (text) => io.writeOut(terminalText(text, io.color)),
    writeError: (text) => io.writeError(terminalText(text, false)),
  };
}
