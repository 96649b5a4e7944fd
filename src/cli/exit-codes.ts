/** What the process answers to whoever called it; a contract, see the README. */
export const ExitCode = {
  Fine: 0,
  /** What `--fail-on` asked to fail for: a finding, or a limit that was passed. */
  Finding: 1,
  BadUsage: 2,
  /** A file could not be read, or the output not be written. */
  Unreadable: 3,
  /** Ended by Ctrl+C or a signal while a file was written: 128 and the number of SIGINT, as shells have it. */
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
}
