/** `npm run build`: the page in one file to dist-single/, the page to dist/, the command line to dist-cli/. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, runPackage } from './run-command.mjs';
import { withInlinePolicy } from './vite-plugins.mjs';

const vite = (...args) => runPackage('vite/bin/vite.js', ['build', ...args]);

async function buildSingle() {
  const code = await vite('--config', 'vite.single.config.ts');
  if (code !== 0) return code;
  const built = join(ROOT, 'dist-single', 'index.html');
  writeFileSync(built, withInlinePolicy(readFileSync(built, 'utf8')));
  renameSync(built, join(ROOT, 'dist-single', 'vramscope.html'));
  return 0;
}

// Comes first, because the page contains a copy for making reports.
const single = await buildSingle();
const page = await vite();
const cli = await vite('--config', 'vite.cli.config.ts');
const notices = await run(process.execPath, [join(ROOT, 'scripts', 'third-party-notices.mjs')]);
process.exitCode = single || page || cli || notices;
