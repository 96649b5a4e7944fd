/** The package that npm would publish, installed in an empty folder: it runs there without anything else. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { expectServed } from './served.ts';
import { fixture } from './viewer.ts';

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
let folder: string;
let program: string;

test.describe.configure({ mode: 'serial' });

test.beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-package-'));
  const quiet = { stdio: 'ignore' } as const;
  const staged = join(folder, 'staged');
  execFileSync(process.execPath, ['scripts/stage-package.mjs', staged], quiet);
  execFileSync(npm, ['pack', staged, '--pack-destination', folder, '--ignore-scripts'], quiet);
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const install = ['install', '--offline', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync(npm, [...install, join(folder, tarball)], quiet);
  program = join(folder, 'node_modules', 'vramscope', 'bin', 'vramscope.mjs');
});
test.afterAll(() => rmSync(folder, { recursive: true }));

test('prints figures, findings and comparisons', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  const file = resolve(fixture('oom_fragmented.pickle.gz'));
  const [device] = JSON.parse(run('stats', file, '--json')).devices;
  expect(device.ooms).toHaveLength(1);
  expect(run('analyze', file)).toContain('ragment');
  const leak = ['a', 'b'].map((side) => resolve(fixture(`pairs/compare/leak.${side}.pickle.gz`)));
  const ranks = [2, 3].map((rank) => resolve(fixture(`fleet/fsdp2_rank${rank}.pickle.gz`)));
  // Both start threads, which run the program once more.
  expect(JSON.parse(run('compare', ...leak, '--json')).verdict).toContain('leak');
  expect(JSON.parse(run('ranks', ...ranks, '--json')).ranks).toHaveLength(2);
  expect(run('report', file)).toContain('oom_fragmented.html');
  expect(readdirSync(join(folder, 'node_modules'))).toEqual(
    expect.arrayContaining(['.bin', 'vramscope']),
  );
  expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(
    ['vramscope'],
  );
});

test('shows a file in the browser, and ends when asked to', async ({ page }) => {
  const file = resolve(fixture('train_gpt_small.pickle.gz'));
  const server = spawn(process.execPath, [program, file, '--port', '0', '--no-open']);
  await expectServed(page, server);
});
