/** Files that demand a lot, each opened by the built program and in the page: an answer soon, in little memory. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { BOMBS } from '../src/testing/bombs.ts';
import { chooseFile, fixture, idle, openCapture, plotOf } from './viewer.ts';

/** The most demanding files, and one wrong number. src/format/input/bombs.test.ts tests all others. */
const FILES = BOMBS.filter(
  ({ name, answer }) => 'code' in answer || /^(one-event|a-frame|size-nan)/.test(name),
);

/** Of work; other programs on the machine may take time too. */
const LIMIT_MS = 10_000;
const HANGS_MS = 60_000;
const LIMIT_BYTES = 1.2e9;
/** Printed at the end, whatever the program did: KiB of memory, microseconds of work. */
const MEMORY_PROBE = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { maxRSS, userCPUTime } = process.resourceUsage(); console.error('used ' + maxRSS + ' ' + userCPUTime); })",
)}`;

interface Run {
  readonly exitCode: number | null;
  readonly out: string;
  readonly lines: readonly string[];
  readonly peakBytes: number;
  readonly workMs: number;
}

function stats(path: string): Promise<Run> {
  const args = ['--import', MEMORY_PROBE, 'bin/vramscope.mjs', 'stats', path];
  const child = spawn(process.execPath, args, { timeout: HANGS_MS });
  let out = '';
  let error = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    error += text;
  });
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      const lines = error.split('\n').filter((line) => line !== '');
      const used = lines.find((line) => line.startsWith('used '));
      const [, peak, work] = used?.split(' ') ?? [];
      resolve({
        exitCode,
        out,
        lines: lines.filter((line) => line !== used),
        peakBytes: Number(peak) * 1024,
        workMs: Number(work) / 1000,
      });
    });
  });
}

test('the command line answers each within ten seconds and 1.2 GB', async () => {
  test.setTimeout(FILES.length * HANGS_MS);
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-hostile-'));
  for (const { name, answer, make } of FILES) {
    const path = join(folder, name);
    writeFileSync(path, make());
    const { exitCode, out, lines, peakBytes, workMs } = await stats(path);
    if ('code' in answer) expect([name, exitCode, out, lines.length]).toEqual([name, 3, '', 1]);
    else {
      expect([name, exitCode, lines]).toEqual([name, 0, []]);
      expect(out.replace(/\s+/g, ' '), name).toMatch(
        answer.warning.source === '^$' ? /./ : answer.warning,
      );
    }
    expect(peakBytes, name).toBeLessThan(LIMIT_BYTES);
    expect(workMs, name).toBeLessThan(LIMIT_MS);
  }
  rmSync(folder, { recursive: true });
});

/** One for each way to demand a lot; the page reads all of them with the same code. */
const ON_PAGE = FILES.filter(({ name }) =>
  /^(many-objects|zips-in-zips|memo|33-regions|one-event)/.test(name),
);

test('the page answers one file of each kind, and opens the next file', async ({ page }) => {
  test.setTimeout(ON_PAGE.length * HANGS_MS);
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.goto('/');
  const good = fixture('cuda_graph_pool.pickle.gz');
  for (const { name, answer, make } of ON_PAGE) {
    await chooseFile(page, { name, mimeType: '', buffer: Buffer.from(make()) });
    const card = page.getByTestId('error');
    if ('code' in answer) await expect(card, name).toBeVisible({ timeout: HANGS_MS });
    else await expect(page.getByRole('banner'), name).toContainText(name, { timeout: HANGS_MS });
    await expect(card, name).toHaveCount('code' in answer ? 1 : 0);
  }
  await chooseFile(page, good);
  await expect(plotOf(page)).toBeVisible();
  expect(errors).toEqual([]);
});

/** Takes all the memory that the browser has for this page's arrays, without ever touching it. */
function takeAllMemory(): void {
  const taken: ArrayBuffer[] = [];
  Object.assign(globalThis, { taken });
  for (let bytes = 2 ** 31; bytes >= 2 ** 16; bytes /= 2) {
    try {
      for (;;) taken.push(new ArrayBuffer(bytes));
    } catch {
      // Half of it, then.
    }
  }
}

test('a worker without memory says so, and the next file opens', async ({ browser }) => {
  // In a separate process, in which no other test has left anything.
  const context = await browser.newContext();
  const page = await context.newPage();
  await openCapture(page, 'cuda_graph_pool.pickle.gz');
  // A worker waits for the next file while one is dragged over the page.
  const dataTransfer = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['x'], 'x'));
    return transfer;
  });
  const spare = page.waitForEvent('worker');
  await page.dispatchEvent('body', 'dragenter', { dataTransfer });
  await (await spare).evaluate(takeAllMemory);
  await chooseFile(page, fixture('frag_gpt_varlen.pickle.gz'));
  const card = page.getByTestId('error');
  await expect(card).toContainText('needs more memory than one tab or thread is allowed');
  await expect(card).toContainText('cuda_graph_pool.pickle.gz is still open');
  // That worker ends with its file. The browser needs a moment to reclaim its memory.
  await expect(async () => {
    await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
    // It is open now, or there was no memory yet: nothing more happens by itself.
    await idle(page);
    expect(await page.getByRole('banner').textContent()).toContain('oom_fragmented');
    expect(await card.count()).toBe(0);
  }).toPass();
  await expect(plotOf(page)).toBeVisible();
  await context.close();
});

test('a crashed worker is reported, and the next file opens', async ({ page }) => {
  await openCapture(page, 'cuda_graph_pool.pickle.gz');
  for (const worker of page.workers()) {
    await worker
      .evaluate(() => {
        setTimeout(() => {
          throw new Error('It broke');
        });
      })
      .catch(() => undefined);
  }
  await page.keyboard.press('+');
  const card = page.getByTestId('error');
  await expect(card).toContainText('has stopped');
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(card).toHaveCount(0);
  await expect(page.getByTestId('findings')).toContainText('fragmented');
  await idle(page);
});
