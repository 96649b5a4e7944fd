import { fstatSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import { errorText } from '../base/errors.ts';
import type { Desktop } from './serve/doors.ts';

/** What a command reads from and writes to: the process, or a test's stand-in. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** For `vramscope … - < FILE`: the file behind stdin, if there is one. */
  stdinFile(): Stats | undefined;
  writeOut(text: string): void;
  writeError(text: string): void;
  /** Shows one line that the next call replaces ('' clears it). Does nothing without a terminal. */
  showProgress(text: string): void;
  /** The script for worker threads; undefined to do all work in this thread. */
  readonly workerScript: string | undefined;
  /** Width of the terminal, or 80 without one. */
  readonly columns: number;
  readonly color: boolean;
  readonly desktop: Desktop;
  /** The built page, dist/. */
  readonly pageFolder: string;
  /**
   * Aborts when the user ends the program with Ctrl+C or a signal; the reason is the signal's name. After the first
   * call, the program must end by itself.
   */
  interruption(): AbortSignal;
}

/** The used part of `process`. */
export type HostProcess = Pick<
  NodeJS.Process,
  'stdin' | 'stdout' | 'stderr' | 'env' | 'platform' | 'exitCode' | 'once'
>;

/** Wider text is hard to read; narrower text breaks the tables. */
const MIN_COLUMNS = 80;
const MAX_COLUMNS = 120;

/** Returns to the start of the line and erases it. */
const ERASE_LINE = '\r\u001b[K';

/**
 * @param pageFolder see {@link CliIo}
 * @param script the program itself, which also runs in worker threads
 */
export function processIo(host: HostProcess, pageFolder: string, script: string): CliIo {
  const { stdin, stdout, stderr, env, platform } = host;
  let isClosed = false;
  stdout.on('error', (error) => {
    if (isClosed) return;
    isClosed = true;
    // `vramscope stats x | head -1` closes the pipe early, so drop the remaining output silently.
    if ('code' in error && error.code === 'EPIPE') return;
    stderr.write(`vramscope: The output cannot be written: ${errorText(error)}.\n`);
    host.exitCode = ExitCode.Unreadable;
  });
  // Nobody is left to tell.
  stderr.on('error', () => undefined);
  const isTerminal = stdout.isTTY === true;
  return {
    stdin,
    stdinFile,
    writeOut: (text) => {
      if (!isClosed) stdout.write(text);
    },
    writeError: (text) => {
      stderr.write(text);
    },
    showProgress: (text) => {
      if (stderr.isTTY === true) stderr.write(`${ERASE_LINE}${text}`);
    },
    workerScript: script,
    columns: Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, stdout.columns ?? MIN_COLUMNS)),
    desktop: { platform, env },
    pageFolder,
    interruption: () => {
      const controller = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        host.once(signal, () => controller.abort(signal));
      }
      return controller.signal;
    },
    // https://no-color.org: NO_COLOR counts if it is not empty.
    color: isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb',
  };
}

function stdinFile(): Stats | undefined {
  try {
    const stats = fstatSync(0);
    return stats.isFile() ? stats : undefined;
  } catch {
    return undefined;
  }
}

/** Exit codes of the process; a contract, see the README. */
export const ExitCode = {
  Fine: 0,
  /** `--fail-on` matched: a finding, or a limit that was exceeded. */
  Finding: 1,
  BadUsage: 2,
  /** A file could not be read, or the output could not be written. */
  Unreadable: 3,
  /** Ended by Ctrl+C. Any other signal gives 128 plus its number, as in shells. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Thrown after everything is printed, when --fail-on names something in it. */
export class FailedOn extends Error {
  override readonly name = 'FailedOn';

  constructor(named: readonly string[]) {
    super(`found a problem that --fail-on names (${named.join(', ')})`);
  }
}

/** Thrown when the user ends the program while a file is being written; no partial file stays. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: number;

  /** @param signal whose reason is the name of the system signal, if one ended the program */
  constructor({ reason }: AbortSignal) {
    super('Ended while a file was written');
    const number = Object.entries(constants.signals).find(([name]) => name === reason)?.[1];
    this.exitCode = number === undefined ? ExitCode.Interrupted : 128 + number;
  }
}
