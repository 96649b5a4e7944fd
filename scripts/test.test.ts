/** Whatever a machine lacks and whatever breaks: each stage that failed is counted, and the count is the last line. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BareMachine, bareMachine, PROJECT } from '../src/testing/bare-machine.ts';

let machine: BareMachine;
let clone: string;
/** A clone without packages: whatever needs one fails. */
beforeEach(() => {
  machine = bareMachine();
  clone = join(machine.folder, 'clone');
  mkdirSync(clone);
  for (const name of ['scripts', 'package.json', 'package-lock.json'])
    cpSync(join(PROJECT, name), join(clone, name), { recursive: true });
});
afterEach(() => machine.remove());

async function summary(env: NodeJS.ProcessEnv = {}) {
  const { stdout, stderr, code } = await machine.run(join(clone, 'scripts', 'test.mjs'), env);
  return { printed: stdout + stderr, last: stdout.trimEnd().split('\n').at(-1), code };
}
const INSTALLS = '/bin/mkdir node_modules; echo > node_modules/.package-lock.json';
const posix = it.skipIf(process.platform === 'win32');

posix('npm fails', async () => {
  machine.add('npm', 'exit 1');
  const { printed, ...end } = await summary();
  expect(end).toEqual({ last: '0 passed, 1 failed', code: 1 });
  expect(printed).toContain('npm ci failed with exit code 1');
});

posix('npm hangs', async () => {
  machine.add('npm', 'exec /bin/sleep 600');
  const { printed, ...end } = await summary({ INSTALL_LIMIT_MS: '500' });
  expect(end).toEqual({ last: '0 passed, 1 failed', code: 1 });
  expect(printed).toContain('npm: The operation was aborted due to timeout');
});

posix('every stage after npm fails: none hides another', async () => {
  machine.add('npm', INSTALLS);
  const { printed, ...end } = await summary();
  expect(end).toEqual({ last: '1 passed, 7 failed', code: 1 });
  expect(printed).toContain('Not run: there is no build to test.');
});

posix('a stage throws, another ends the process', async () => {
  machine.add('npm', INSTALLS);
  writeFileSync(join(clone, 'scripts', 'build.mjs'), '');
  writeFileSync(join(clone, 'scripts', 'install-programs.mjs'), 'throw new RangeError("29.5 ms")');
  const thrown = await summary();
  expect(thrown).toMatchObject({ last: '2 passed, 7 failed', code: 1 });
  expect(thrown.printed).toContain('29.5 ms');
  writeFileSync(join(clone, 'scripts', 'install-programs.mjs'), 'process.exit(0)');
  expect(await summary()).toMatchObject({ last: '1 passed, 1 failed', code: 1 });
});
