import { constants } from 'node:os';

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
