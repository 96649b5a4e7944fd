/** Two files of a size: the command line beside reading one of them, and the page until the difference is on screen. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../scripts/run-command.mjs';

const LIMIT_MS = 5 * 60_000;
const CLI = join(ROOT, 'bin', 'vramscope.mjs');

/**
 * Milliseconds of the whole program, the best of two: `stats` of one file, and `compare` of it with itself, which
 * decodes it twice in parallel threads.
 * @param {{path: string}} subject
 */
export function measureCompareCli({ path }) {
  const best = (args) => Math.min(...[0, 1].map(() => runMs(args)));
  const oneMs = best(['stats', path, '--json']);
  const twoMs = best(['compare', path, path, '--json']);
  return { oneMs, twoMs, ratio: twoMs / oneMs };
}

function runMs(args) {
  const startMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], { maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(String(stderr));
  return performance.now() - startMs;
}

/**
 * Milliseconds from two files given to both read, and to the difference on screen.
 * @param {{browser: import('@playwright/test').Browser, url: string}} started
 * @param {{path: string}} subject
 */
export async function measureComparePage({ browser, url }, { path }) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  try {
    await page.goto(url);
    await page.evaluate(() => window.vramscope.whenIdle());
    const startMs = performance.now();
    await page.getByTestId('file-input').first().setInputFiles([path, path]);
    await page.getByTestId('compare').waitFor({ timeout: LIMIT_MS });
    const readMs = performance.now() - startMs;
    await page.getByRole('status', { name: 'Verdict' }).waitFor({ timeout: LIMIT_MS });
    const shownMs = performance.now() - startMs;
    return { readMs, differenceMs: shownMs - readMs };
  } finally {
    await page.close();
  }
}
