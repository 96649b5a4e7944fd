import type { CliIo } from '../cli/cli-io.ts';
import { runCli } from '../cli/run-cli.ts';

export interface CliRun {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

/** A terminal of 80 columns. */
export const QUIET_IO: CliIo = {
  stdin: piecesOf(new Uint8Array(0)),
  stdinFile: () => undefined,
  writeOut: () => undefined,
  writeError: () => undefined,
  columns: 80,
  color: false,
  showProgress: () => undefined,
  workerScript: undefined,
  desktop: { platform: 'linux', env: {} },
  pageFolder: 'dist',
  interruption: () => new AbortController().signal,
};

/** Runs one command line in this process. `stdin`: the bytes piped in; `pageFolder`: the built page; `interruption`: Ctrl+C. */
export async function cli(
  args: readonly string[],
  stdin?: Uint8Array,
  pageFolder = 'dist',
  interruption = new AbortController().signal,
): Promise<CliRun> {
  let out = '';
  let error = '';
  const io: CliIo = {
    ...QUIET_IO,
    stdin: piecesOf(stdin ?? new Uint8Array(0)),
    writeOut: (text) => {
      out += text;
    },
    writeError: (text) => {
      error += text;
    },
    pageFolder,
    interruption: () => interruption,
  };
  const exitCode = await runCli(args, io, '9.9.9');
  return { exitCode, out, error };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}
