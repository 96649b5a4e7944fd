/** Provides what a fresh clone lacks: the right Node and the packages. Uses only Node's builtins. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runNpm, withinLimit } from './run-command.mjs';

/** npm writes it at the end of each install. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');

/** @throws when Node is too old or the packages cannot be installed */
export async function ensureReady() {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const neededVersion = engines.node.replace('>=', '');
  if (isOlder(process.versions.node, neededVersion)) {
    throw new Error(`Node ${neededVersion} or later is needed; this is ${process.versions.node}.`);
  }
  if (isInstalled()) return;
  console.log('Installing packages (npm ci)');
  const code = await runNpm(['ci', '--no-audit', '--no-fund'], withinLimit());
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}.`);
}

function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  return statSync(INSTALLED).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs;
}

/** '20.9.0' is older than '20.19'. @param {string} version @param {string} needed */
export function isOlder(version, needed) {
  const [a, b] = [version, needed].map((text) => text.split('.').map(Number));
  for (let i = 0; i < b.length; i++) {
    const difference = (a[i] ?? 0) - b[i];
    if (difference !== 0) return difference < 0;
  }
  return false;
}
