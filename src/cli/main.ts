import { fileURLToPath } from 'node:url';
import { processIo } from './cli-io.ts';
import { runCli } from './run-cli.ts';

/** Put in by the build, from package.json. */
declare const __VRAMSCOPE_VERSION__: string;

// Not process.exit, which would cut off output that a slow pipe has not taken yet.
const io = processIo(process, fileURLToPath(new URL('../dist/', import.meta.url)));
const exitCode = await runCli(process.argv.slice(2), io, __VRAMSCOPE_VERSION__);
// Output that could not be written has set it already.
process.exitCode ??= exitCode;
