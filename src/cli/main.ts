import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { processIo } from './cli-io.ts';
import { runCli } from './run-cli.ts';

/** Put in by the build, from package.json. */
declare const __VRAMSCOPE_VERSION__: string;

if (isMainThread) {
  const folder = fileURLToPath(new URL('../dist/', import.meta.url));
  const io = processIo(process, folder, fileURLToPath(import.meta.url));
  // Not process.exit, which would cut off output that a slow pipe has not taken yet.
  const exitCode = await runCli(process.argv.slice(2), io, __VRAMSCOPE_VERSION__);
  // Output that could not be written has set it already.
  process.exitCode ??= exitCode;
} else {
  // The same file is what worker threads run.
  const { serveReadRank } = await import('./ranks/read-ranks.ts');
  serveReadRank();
}
