/**
 * Installs the programs that `npm test` needs and this machine lacks: Chromium from Playwright, and all of them from
 * the system's package manager on Debian-like systems, as root.
 */
import { spawnSync } from 'node:child_process';
import {
  findChromium,
  findFirefox,
  findProgram,
  findPython,
  findWebkit,
} from './find-programs.mjs';
import { isMain, run, runPackage, withinLimit } from './run-command.mjs';

/** A downloaded Chromium may lack system libraries. apt-get's Chromium brings them for both. */
const starts = (path) =>
  process.platform !== 'linux' || spawnSync(path, ['--version']).status === 0;

/** @returns {string | undefined} */
export const findStartingChromium = () => findChromium(starts);

const downloadChromium = () =>
  runPackage('@playwright/test/cli.js', ['install', '--no-shell', 'chromium'], withinLimit());

/** `packages`: sets of packages, tried in turn until the program is there. */
const PROGRAMS = [
  {
    name: 'Chromium',
    find: findStartingChromium,
    packages: ['chromium-headless-shell', 'chromium'],
    download: downloadChromium,
  },
  { name: 'Firefox', find: findFirefox, packages: ['firefox-esr'] },
  { name: 'WebKitGTK', find: findWebkit, packages: ['webkit2gtk-driver xvfb'] },
  { name: 'Python 3', find: () => findPython(['ensurepip', 'venv']), packages: ['python3-venv'] },
];

/** @returns {Promise<readonly string[]>} what is still missing, and how to install it */
export async function ensurePrograms() {
  const missing = [];
  for (const { name, find, packages, download } of PROGRAMS) {
    const isHere = () => find() !== undefined;
    if (isHere()) continue;
    console.log(`Installing ${name}.`);
    await download?.();
    for (const set of canUseApt() ? packages : [])
      if (!isHere()) await installByApt(set.split(' '));
    const command = `apt-get install --no-install-recommends ${packages.at(-1)}`;
    if (!isHere()) missing.push(`${name} is not installed: ${command}`);
  }
  return missing;
}

const canUseApt = () => process.getuid?.() === 0 && findProgram(['apt-get']) !== undefined;

/** Makes apt-get give up soon without a network. */
const PATIENCE = ['Acquire::Retries=1', 'Acquire::http::Timeout=15', 'DPkg::Lock::Timeout=60'];

/** Shared by all installs: if one hangs, the next would too. @type {ReturnType<typeof withinLimit>} */
let limit;

/** @param {readonly string[]} packages */
async function installByApt(packages) {
  const options = PATIENCE.flatMap((option) => ['-o', option]);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Output about hundreds of packages is useless here, so show only errors.
  const stdio = ['ignore', 'ignore', 'inherit'];
  const apt = (...args) => run('apt-get', ['-qq', ...options, ...args], { ...limit, env, stdio });
  if (limit === undefined) {
    limit = withinLimit();
    await apt('update');
  }
  await apt('install', '-y', '--no-install-recommends', ...packages);
}

if (isMain(import.meta.url)) for (const line of await ensurePrograms()) console.log(line);
