import { processIo } from './cli-io.ts';
import { runCli } from './run-cli.ts';

/** Put in by the build, from package.json. */
declare const __VRAMSCOPE_VERSION__: string;

// Not process.exit, which would cut off output that a slow pipe has not taken yet.
process.exitCode = await runCli(process.argv.slice(2), processIo(process), __VRAMSCOPE_VERSION__);
