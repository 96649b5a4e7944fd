import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { processIo } from './cli-io.ts';
import { serveJobs } from './jobs.ts';
import { runCli } from './run-cli.ts';

/** The build sets it from package.json. */
declare const __VRAMSCOPE_VERSION__: string;

if (isMainThread) await runProgram();
else serveJobs();

async function runProgram(): Promise<void> {
  const pageFolder = fileURLToPath(new URL('../dist/', import.meta.url));
  const io = processIo(process, pageFolder, fileURLToPath(import.meta.url));
  const exitCode = await runCli(process.argv.slice(2), io, __VRAMSCOPE_VERSION__);
  // Do not call process.exit: it would cut off output that a slow pipe has not taken yet. A failed write has already
  // set the exit code.
  process.exitCode ??= exitCode;
}
