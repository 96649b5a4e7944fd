/** Runs other programs the same way on Linux, macOS and Windows. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** True in the script that node was started with. */
export function isMain(moduleUrl) {
  const script = process.argv[1];
  return script !== undefined && realpathSync(script) === fileURLToPath(moduleUrl);
}

/**
 * Runs a program to its end with our stdout and stderr; its stdin is empty.
 * @param {string} command @param {readonly string[]} args @param {import('node:child_process').SpawnOptions}
 * [options]
 * @returns {Promise<number>} its exit code; 1 when a signal or a timeout ended it, or it could not be started
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    if (options.signal?.aborted) return resolve(1);
    const stdio = ['ignore', 'inherit', 'inherit'];
    const child = spawn(command, args, { cwd: ROOT, stdio, ...options });
    child.on('error', (error) => {
      console.error(`${command}: ${error.cause?.message ?? error.message}`);
      resolve(1);
    });
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** Limits network installs, which may hang, and kills them hard. INSTALL_LIMIT_MS overrides the limit. */
export const withinLimit = () => ({
  signal: AbortSignal.timeout(Math.ceil(Number(process.env.INSTALL_LIMIT_MS ?? 300_000))),
  killSignal: /** @type {const} */ ('SIGKILL'),
});

/**
 * Runs npm. On Windows, `npm` is a .cmd file, which Node does not start without a shell. npm's own JavaScript runs
 * everywhere, and npm tells us its path if it started us.
 * @param {readonly string[]} args plain words: the Windows shell receives them unquoted
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function runNpm(args, options) {
  const script = process.env.npm_execpath;
  if (script?.endsWith('.js')) return run(process.execPath, [script, ...args], options);
  return run('npm', args, { shell: process.platform === 'win32', ...options });
}

/**
 * Runs the JavaScript of an installed package: runPackage('vite/bin/vite.js', ['build']). Uses node directly, because
 * node_modules/.bin holds .cmd files on Windows.
 * @param {string} path under node_modules @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function runPackage(path, args, options) {
  return run(process.execPath, [join(ROOT, 'node_modules', path), ...args], options);
}
