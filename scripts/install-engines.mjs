/** Gets the browsers beside Chromium where the system's package manager can: Debian and its like, as root. */
import { existsSync } from 'node:fs';
import { findFirefox, findWebkit } from './find-engines.mjs';
import { isMain, run } from './run-command.mjs';

export const ENGINES = [
  { name: 'Firefox', find: findFirefox, packages: ['firefox-esr'] },
  { name: 'WebKitGTK', find: findWebkit, packages: ['webkit2gtk-driver', 'xvfb'] },
];

/** It takes half a minute with a good network; without any, the tests go on soon. */
const LIMIT_MS = 180_000;
const PATIENCE = [
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=15',
  '-o',
  'DPkg::Lock::Timeout=60',
];

/** @returns {Promise<readonly { name: string, command: string }[]>} those that are not there, and how to install them */
export async function ensureEngines() {
  const missing = () => ENGINES.filter(({ find }) => find() === undefined);
  const wanted = missing();
  if (wanted.length > 0 && isDebianRoot()) {
    console.log(`Installing ${wanted.map(({ name }) => name).join(' and ')}.`);
    await install(wanted.flatMap(({ packages }) => packages));
  }
  return missing().map(({ name, packages }) => ({
    name,
    command: `apt-get install --no-install-recommends ${packages.join(' ')}`,
  }));
}

const isDebianRoot = () =>
  process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');

/** @param {readonly string[]} packages */
async function install(packages) {
  const endsMs = performance.now() + LIMIT_MS;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // What a package manager says of hundreds of packages is of no use here, unless it fails.
  const apt = (...args) =>
    run('apt-get', ['-qq', ...PATIENCE, ...args], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: Math.max(1, endsMs - performance.now()),
    });
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', ...packages);
}

if (isMain(import.meta.url)) {
  for (const { name, command } of await ensureEngines()) console.log(`${name}: ${command}`);
}
