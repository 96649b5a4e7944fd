/** `npm run build:single`: the whole page in one file, dist-single/vramscope.html. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withInlinePolicy } from './content-security-policy.mjs';
import { ROOT, runPackage } from './run-command.mjs';

const built = join(ROOT, 'dist-single', 'index.html');

const code = await runPackage('vite/bin/vite.js', ['build', '--config', 'vite.single.config.ts']);
if (code === 0) {
  writeFileSync(built, withInlinePolicy(readFileSync(built, 'utf8')));
  renameSync(built, join(ROOT, 'dist-single', 'vramscope.html'));
}
process.exitCode = code;
