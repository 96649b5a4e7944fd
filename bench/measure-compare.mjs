/**
 * Compares two files of one size: on the command line beside reading one of them, and on the page until the
 * difference is on screen.
 */
import { join } from 'node:path';
import { ROOT } from '../scripts/run-command.mjs';
import { wallOf } from './measured-child.mjs';

const LIMIT_MS = 5 * 60_000;
const CLI = join(ROOT, 'bin', 'vramscope.mjs');

/**
 * Milliseconds of the whole program, the better of two: `stats` of one file, and `compare` of it with itself, which
 * decodes it twice in parallel threads.
 * @param {{path: string}} subject
 */
export async function measureCompareCli({ path }) {
  const run = (...args) => wallOf(process.execPath, [CLI, ...args, '--json']);
  const oneMs = Math.min(await run('stats', path), await run('stats', path));
  const twoMs = Math.min(await run('compare', path, path), await run('compare', path, path));
  return { oneMs, twoMs, ratio: twoMs / oneMs };
}

/**
 * Milliseconds from giving two files until both are read, and until the difference is on screen.
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
