import { fstatSync, type Stats } from 'node:fs';
import { constants } from 'node:os';
import { errorText } from '../base/errors.ts';
import type { Desktop } from './serve/doors.ts';

/** What a command reads from and writes to: the process, or a test. */
export interface CliIo {
  readonly stdin: AsyncIterable<Uint8Array>;
  /** `vramscope … - < FILE`: the file behind stdin; undefined where there is none. */
  stdinFile(): Stats | undefined;
  writeOut(text: string): void;
  writeError(text: string): void;
  /** One line that the next call replaces, '' to take it away; nothing where nobody watches. */
  showProgress(text: string): void;
  /** What worker threads run; undefined where all is done in this one. */
  readonly workerScript: string | undefined;
  /** Columns of the terminal; 80 where the output is no terminal. */
  readonly columns: number;
  readonly color: boolean;
  readonly desktop: Desktop;
  /** The built page: dist/. */
  readonly pageFolder: string;
  /**
   * Aborted when the user ends the program: Ctrl+C, or a signal of the system, whose name is the reason. From the first call
   * on, the program must end by itself.
   */
  interruption(): AbortSignal;
}

interface OutputStream {
  write(text: string): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The parts of `process` that a command needs. */
export interface ProcessLike {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  exitCode?: number | string | null | undefined;
  once(event: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown;
}

/** Wider text is harder to read, narrower breaks the tables. */
const MIN_COLUMNS = 80;
const MAX_COLUMNS = 120;

/** Back to the line's start, and erase it. */
const ERASE_LINE = '\r\u001b[K';

/**
 * @param pageFolder see {@link CliIo}
 * @param script what worker threads are started with: the program itself
 */
export function processIo(host: ProcessLike, pageFolder: string, script: string): CliIo {
  const { stdin, stdout, stderr, env, platform } = host;
  let isClosed = false;
  stdout.on('error', (error) => {
    if (isClosed) return;
    isClosed = true;
    // `vramscope stats x | head -1` closes the pipe early: what is left to say goes nowhere, quietly.
    if ('code' in error && error.code === 'EPIPE') return;
    stderr.write(`vramscope: The output cannot be written: ${errorText(error)}.\n`);
    host.exitCode = ExitCode.Unreadable;
  });
  // There is nobody left to tell.
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
    // https://no-color.org: set to anything but the empty string.
    desktop: { platform, env },
    pageFolder,
    interruption: () => {
      const controller = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        host.once(signal, () => controller.abort(signal));
      }
      return controller.signal;
    },
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

/** What the process answers to whoever called it; a contract, see the README. */
export const ExitCode = {
  Fine: 0,
  /** What `--fail-on` asked to fail for: a finding, or a limit that was passed. */
  Finding: 1,
  BadUsage: 2,
  /** A file could not be read, or the output not be written. */
  Unreadable: 3,
  /** Ended by Ctrl+C. By another signal it is 128 and its number, as shells have it, whatever was being done. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Thrown when all has been printed and something that --fail-on names is among it. */
export class FailedOn extends Error {
  override readonly name = 'FailedOn';

  constructor(named: readonly string[]) {
    super(`found a problem that --fail-on names (${named.join(', ')})`);
  }
}

/** Thrown when the user ended the program while a file was written; nothing is left of it. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly exitCode: number;

  /** @param signal its reason is the name of the system's signal, where it was one */
  constructor({ reason }: AbortSignal) {
    super('Ended while a file was written');
    const number = Object.entries(constants.signals).find(([name]) => name === reason)?.[1];
    this.exitCode = number === undefined ? ExitCode.Interrupted : 128 + number;
  }
}
