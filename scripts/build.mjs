/** `npm run build`: the page to dist/, the command line to dist-cli/. */
import { runPackage } from './run-command.mjs';

const page = await runPackage('vite/bin/vite.js', ['build']);
const cli = await runPackage('vite/bin/vite.js', ['build', '--config', 'vite.cli.config.ts']);
process.exitCode = page || cli;
