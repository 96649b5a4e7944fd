/** `npm run build`: the page in one file to dist-single/, the page to dist/, the command line to dist-cli/. */
import { join } from 'node:path';
import { ROOT, run, runPackage } from './run-command.mjs';

// First: the page has a copy of it, to make reports of.
const single = await run(process.execPath, [join(ROOT, 'scripts', 'build-single.mjs')]);
const page = await runPackage('vite/bin/vite.js', ['build']);
const cli = await runPackage('vite/bin/vite.js', ['build', '--config', 'vite.cli.config.ts']);
const notices = await run(process.execPath, [join(ROOT, 'scripts', 'third-party-notices.mjs')]);
process.exitCode = single || page || cli || notices;
