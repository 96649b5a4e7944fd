/**
 * Shows a snapshot in a real JupyterLab: a notebook with one cell, run in Chromium by its button.
 *
 *   npm run build:python && node scripts/try-notebook.mjs [PICTURE.png]
 *
 * Needs a JupyterLab that `jupyter` starts; JUPYTER names another command. Says "Not run" where there is none.
 * Not part of `npm test`: few machines have one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromium, expect } from '@playwright/test';
import { chromiumFlags, findChromium } from './find-chromium.mjs';
import { ROOT } from './run-command.mjs';

const jupyter = process.env.JUPYTER ?? 'jupyter';
const folder = mkdtempSync(join(tmpdir(), 'vramscope-notebook-'));
const [picture] = process.argv.slice(2);

const CELL = {
  cell_type: 'code',
  execution_count: null,
  id: 'show',
  metadata: {},
  outputs: [],
  source: `import vramscope\nvramscope.show(${JSON.stringify(join(ROOT, 'fixtures', 'oom_fragmented.pickle.gz'))}, height=640)`,
};
const KERNEL = { name: 'python3', display_name: 'Python 3', language: 'python' };
const NOTEBOOK = {
  cells: [CELL],
  metadata: { kernelspec: KERNEL },
  nbformat: 4,
  nbformat_minor: 5,
};

/** @returns {Promise<string>} the address of JupyterLab, once it says it */
function addressOf(server) {
  return new Promise((found, failed) => {
    let text = '';
    server.stderr.on('data', (piece) => {
      text += piece;
      const [address] = /http:\/\/127\.0\.0\.1:\d+\/lab\?token=\w+/.exec(text) ?? [];
      if (address !== undefined) found(address);
    });
    server.once('exit', () => failed(new Error(text)));
  });
}

async function tryNotebook() {
  const { status, stdout } = spawnSync(jupyter, ['lab', '--version'], { encoding: 'utf8' });
  if (status !== 0) {
    console.log('Not run: there is no JupyterLab here (pip install jupyterlab).');
    return;
  }
  const [wheel] = readdirSync(join(ROOT, 'dist-python'));
  const target = join(folder, 'site');
  const python = join(dirname(jupyter), 'python');
  const install = ['-m', 'pip', 'install', '-q', '--no-index', '--target', target];
  spawnSync(
    dirname(jupyter) === '.' ? 'python3' : python,
    [...install, join(ROOT, 'dist-python', wheel)],
    { stdio: 'inherit' },
  );
  writeFileSync(join(folder, 'sample.ipynb'), JSON.stringify(NOTEBOOK));
  const server = spawn(
    jupyter,
    [
      'lab',
      '--no-browser',
      '--allow-root',
      '--ip=127.0.0.1',
      '--port=8957',
      `--notebook-dir=${folder}`,
    ],
    {
      env: { ...process.env, PYTHONPATH: target },
    },
  );
  const browser = await chromium.launch({ args: chromiumFlags(), executablePath: findChromium() });
  try {
    const address = new URL(await addressOf(server));
    address.pathname = '/lab/tree/sample.ipynb';
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(90_000);
    await page.goto(address.href);
    await page.locator('.jp-Notebook .jp-CodeCell').first().click();
    // Waits for its kernel: before, the cell would not run.
    await page
      .locator('.jp-Toolbar-kernelStatus, .jp-Notebook-ExecutionIndicator[data-status="idle"]')
      .first()
      .waitFor();
    await page.keyboard.press('Shift+Enter');
    const frame = page.frameLocator('iframe[title="vramscope"]');
    await expect(frame.getByTestId('timeline')).toBeVisible({ timeout: 90_000 });
    await expect(frame.getByTestId('findings')).toContainText('fragment', { timeout: 90_000 });
    if (picture !== undefined) await page.screenshot({ path: picture });
    console.log(`JupyterLab ${stdout.trim()}: the cell shows the snapshot and its findings.`);
  } finally {
    await browser.close();
    server.kill();
  }
}

try {
  await tryNotebook();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
