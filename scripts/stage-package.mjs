/**
 * `node scripts/stage-package.mjs FOLDER`: collects what npm publishes. The package.json there has no dependencies:
 * the build bundles them into dist/ and dist-cli/, so installing vramscope installs nothing else.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './run-command.mjs';

const folder = resolve(process.argv[2] ?? 'staged');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { dependencies, devDependencies, scripts, ...published } = manifest;
mkdirSync(folder, { recursive: true });
for (const name of [...manifest.files, 'README.md', 'LICENSE'])
  cpSync(join(ROOT, name), join(folder, name), { recursive: true });
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
