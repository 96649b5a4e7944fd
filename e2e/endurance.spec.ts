/**
 * Long use: file after file, one cancelled opening after another, two tabs, full storage. At the end the page holds
 * what it held at the start, and nothing was lost. docs/reliability.md tells how to do more than `npm test` does.
 */
import { execFileSync } from 'node:child_process';
import { type Browser, expect, type Page, test } from '@playwright/test';
import {
  CANCELS,
  FILES,
  inTurn,
  KEPT,
  LIMIT_MS,
  MOST_GROWTH,
  OTHERS,
  slowFile,
  VIEWS,
} from './long-use.ts';
import { type StaticHost, staticHost } from './static-server.ts';
import {
  chooseFile,
  fixture,
  idle,
  onlyTheFile,
  openCapture,
  plotOf,
  showView,
  summaryOf,
} from './viewer.ts';

/** A worker that was ended during a long call disappears when that call ends. */
const ENDED_MS = 60_000;

async function show(page: Page, view: string): Promise<void> {
  await showView(page, view);
  await idle(page);
  await expect(page.locator('#view-picture').getByRole('alert')).toHaveCount(0);
}

/** Opens a capture as a user would who has one open, and waits until it is drawn. */
async function openNext(page: Page, name: string): Promise<void> {
  await chooseFile(page, fixture(name));
  await expect(page.getByRole('banner')).toContainText(name);
  await idle(page);
  await expect(page.getByTestId('error')).toHaveCount(0);
}

/** Resident memory of the process that shows the page, including its workers: the largest one. */
async function residentBytes(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const pids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const lines = execFileSync('ps', ['-o', 'rss=', '-p', pids.join(',')], { encoding: 'utf8' });
  return Math.max(...lines.split('\n').map((line) => Number(line) * 1024));
}

/** Measured until it falls no further, each time after a garbage collection: what is really in use. */
async function heldBytes(browser: Browser, page: Page): Promise<number> {
  await onlyTheFile(page);
  let least = Infinity;
  for (;;) {
    const collect = () => (globalThis as { gc?: () => void }).gc?.();
    await page.evaluate(collect);
    await Promise.all(page.workers().map((worker) => worker.evaluate(collect)));
    const held = await residentBytes(browser);
    // The system reclaims pages in its own time.
    if (held > least * 0.99) return Math.min(held, least);
    least = held;
  }
}

test(`${FILES} files and ${CANCELS} cancelled openings leave memory and snapshot as they were`, async ({
  page,
  browser,
}) => {
  test.setTimeout(LIMIT_MS);
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  const slow = slowFile();
  await openCapture(page, KEPT);
  const figures = await summaryOf(page).textContent();
  const openFiles = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await openNext(page, inTurn(OTHERS, i));
      if (i % 3 === 0) await show(page, inTurn(VIEWS, i / 3));
    }
    await openNext(page, KEPT);
    expect(await summaryOf(page).textContent()).toBe(figures);
  };
  const cancelOpenings = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await chooseFile(page, slow.path);
      const cancel = page.getByTestId('cancel');
      await expect(cancel).toBeVisible();
      // Early, and occasionally while its worker reads and hears nothing.
      if (i % 10 === 1) await expect(page.getByTestId('progress')).toContainText('Reading');
      await cancel.click();
      await expect(page.getByRole('banner')).toContainText(KEPT);
      await show(page, inTurn(VIEWS, i));
      expect(await summaryOf(page).textContent()).toBe(figures);
    }
    await openNext(page, KEPT);
  };
  // Every kind of file, every view and some cancelled openings: code that runs for the first time takes memory, and
  // the system does not take it back from a process.
  await openFiles(Math.min(FILES, OTHERS.length));
  for (const view of VIEWS) await show(page, view);
  await cancelOpenings(1);
  const before = await heldBytes(browser, page);
  await openFiles(FILES);
  const between = await heldBytes(browser, page);
  await cancelOpenings(CANCELS);
  let after = 0;
  const growth = async () => {
    after = await heldBytes(browser, page);
    return after / before;
  };
  await expect.poll(growth, { timeout: ENDED_MS }).toBeLessThan(MOST_GROWTH);
  slow.remove();

  const megabytes = [before, between, after].map((bytes) => Math.round(bytes / 1e6));
  test.info().annotations.push({ type: 'MB held', description: megabytes.join(' → ') });
  expect(errors).toEqual([]);
});

test('two tabs do not affect each other', async ({ page, context }) => {
  const other = await context.newPage();
  await openCapture(page, KEPT);
  await openCapture(other, 'oom_fragmented.pickle.gz');
  const figures = await summaryOf(page).textContent();
  await show(other, 'Flame');
  await openNext(other, 'two_devices.pickle.gz');
  await other.close();
  await page.bringToFront();
  await show(page, 'Events');
  expect(await summaryOf(page).textContent()).toBe(figures);
});

test.describe('with full storage', () => {
  test.use({ serviceWorkers: 'allow' });
  let site: StaticHost;
  test.beforeEach(async () => {
    site = await staticHost('dist');
  });
  test.afterEach(() => site.close());

  test('the page opens files and accepts settings, and only forgets them', async ({
    page,
    context,
  }) => {
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    const session = await context.newCDPSession(page);
    const origin = new URL(site.url).origin;
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1000 });
    await page.goto(site.url);
    await page.evaluate(() => {
      // As much as fits, to the last byte.
      for (let length = 2 ** 22; length >= 1; length /= 2) {
        try {
          localStorage.setItem(`filler ${length}`, 'x'.repeat(length));
        } catch {
          // Half of it, then.
        }
      }
    });
    // The worker that stores the page for offline use is refused its space.
    await expect
      .poll(() =>
        page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length),
      )
      .toBe(0);
    await chooseFile(page, fixture(KEPT));
    await expect(plotOf(page)).toBeVisible();
    await idle(page);
    for (const view of VIEWS) await show(page, view);
    const theme = page.getByRole('button', { name: /theme/i });
    const shown = () => page.locator('html').getAttribute('data-theme');
    const themeBefore = await shown();
    await theme.click();
    await expect.poll(shown).not.toBe(themeBefore);
    expect(errors).toEqual([]);
  });
});
