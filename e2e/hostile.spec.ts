/** Files that ask for much, each by the built program and in the page: an answer soon, in little memory. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { BOMBS } from '../src/testing/bombs.ts';
import { chooseFile, fixture, plotOf } from './viewer.ts';

/** Of work; other programs on the machine may take their time, too. */
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
  test.setTimeout(BOMBS.length * HANGS_MS);
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-hostile-'));
  for (const { name, answer, make } of BOMBS) {
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

test('the page answers each, and opens the next file', async ({ page }) => {
  test.setTimeout(BOMBS.length * HANGS_MS);
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.goto('/');
  const good = fixture('cuda_graph_pool.pickle.gz');
  for (const { name, answer, make } of BOMBS) {
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
