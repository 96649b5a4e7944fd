/**
 * The wheel, installed in a clean virtual environment without Node or network: it shows a file, and so do notebooks.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { findPython } from '../scripts/find-programs.mjs';
import { addressOf, expectServed } from './served.ts';
import { staticHost } from './static-server.ts';
import { fixture } from './viewer.ts';

const folder = mkdtempSync(join(tmpdir(), 'vramscope-python-'));
const binaries = join(folder, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin');
const python = join(binaries, process.platform === 'win32' ? 'python.exe' : 'python');
/** A PATH without Node. */
const environment = { ...process.env, PATH: binaries, PYTHONDONTWRITEBYTECODE: '1' };
const file = resolve(fixture('oom_fragmented.pickle.gz'));

test.describe.configure({ mode: 'serial' });

test.beforeAll(() => {
  const command = findPython(['ensurepip', 'venv']) ?? 'python3';
  execFileSync(command, ['-m', 'venv', join(folder, 'venv')]);
  execFileSync(command, ['python/build_wheel.py', folder]);
  const [wheel = ''] = readdirSync(folder).filter((name) => name.endsWith('.whl'));
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--no-index', join(folder, wheel)]);
});
test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('shows a file in the browser, and ends when asked to', async ({ page }) => {
  const asked = hostsAsked(page);
  const args = ['-m', 'vramscope', file, '--port', '0', '--no-open'];
  const server = spawn(python, args, { cwd: folder, env: environment });
  await expectServed(page, server);
  expect(asked()).toEqual(['127.0.0.1']);
});

test('shows a folder as the ranks of a job', async ({ page }) => {
  const args = ['-m', 'vramscope', resolve('fixtures/record/ranks'), '--port', '0', '--no-open'];
  const server = spawn(python, args, { cwd: folder, env: environment });
  await page.goto(await addressOf(server));
  await expect(page.locator('tr:has([data-rank])')).toHaveCount(4);
  await expect(page.getByRole('status', { name: 'Verdict' })).toContainText('4 ranks');
  server.kill('SIGINT');
});

test('says how to get findings without Node, and runs the command line with Node', () => {
  const run = (env: NodeJS.ProcessEnv) =>
    spawnSync(python, ['-m', 'vramscope', 'stats', file, '--json'], { env, encoding: 'utf8' });
  const without = run(environment);
  expect(without.stderr).toContain('needs Node 20.19');
  expect(without.stderr).toContain('Summary has the same figures');
  expect(without.status).toBe(2);
  const { stdout } = run({ ...environment, PATH: join(process.execPath, '..') });
  expect(JSON.parse(stdout).devices[0].ooms).toHaveLength(1);
});

test('a notebook’s cell contains the page and the file', async ({ page }) => {
  const html = execFileSync(
    python,
    ['-c', 'import sys, vramscope; print(vramscope.show(sys.argv[1])._repr_html_())', file],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  writeFileSync(join(folder, 'index.html'), `<!doctype html><title>Notebook</title>${html}`);
  const host = await staticHost(folder);
  const asked = hostsAsked(page);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  await page.goto(host.url);
  const frame = page.frameLocator('iframe');
  await expect(frame.getByTestId('timeline')).toBeVisible();
  await expect(frame.getByRole('region', { name: 'Summary' })).toContainText('Peak reserved');
  await frame.getByTestId('view-tabs').getByRole('button', { name: 'Flame' }).click();
  await expect(frame.getByRole('application', { name: 'Flame graph' })).toBeVisible();
  expect(asked()).toEqual(['127.0.0.1']);
  expect(faults).toEqual([]);
  await host.close();
});

test('for larger files, a cell shows what a loopback server sends', async ({ page }) => {
  const code = `import sys, time, vramscope
print(vramscope.show(sys.argv[1], server=True)._repr_html_(), flush=True)
time.sleep(600)`;
  const kernel = spawn(python, ['-c', code, file], { cwd: folder, env: environment });
  const address = await addressOf(kernel);
  const html = `<!doctype html><iframe src="${address.replace(/".*/, '')}" style="width: 100%; height: 700px"></iframe>`;
  writeFileSync(join(folder, 'index.html'), html);
  const host = await staticHost(folder);
  await page.goto(host.url);
  await expect(page.frameLocator('iframe').getByTestId('timeline')).toBeVisible();
  kernel.kill();
  await host.close();
});

/** The hosts that the page contacts over the network, from now on. */
function hostsAsked(page: Page): () => string[] {
  const hosts = new Set<string>();
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'blob:' && protocol !== 'data:' && protocol !== 'about:') hosts.add(hostname);
  });
  return () => [...hosts];
}
