/** What the process answers to whoever called it; a contract, see the README. */
export const ExitCode = {
  Fine: 0,
  /** A finding that `--fail-on` asked to fail for. */
  Finding: 1,
  BadUsage: 2,
  /** A file could not be read. */
  Unreadable: 3,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
