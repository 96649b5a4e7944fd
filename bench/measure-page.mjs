/** The page in Chromium: opening, memory, frames under real input, long tasks, views, page weight. */
import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { preview } from 'vite';
import { chromiumFlags, findChromium } from '../scripts/find-programs.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { framesOf } from './gestures.mjs';
import { measureViews, measureWhatIf } from './measure-views.mjs';
import { installProbe, takeLongTasks } from './page-probe.mjs';
import { BENCH_FOLDER } from './subjects.mjs';
import { watchTabMemory } from './tab-memory.mjs';

/** A new window has work of its own, such as parts of the browser's frame that it loads ahead. */
const WINDOW_MS = 1500;
const OPEN_LIMIT_MS = 5 * 60_000;
/** Path of the bench's files on the server of the page. */
const FILES = '/bench-files';
/** Chromium gives pages back some five seconds after they were left. */
const SETTLE_MS = 10_000;
/** By then it has collected its garbage as well, which it does 8 to 25 s after the last work. */
const REST_MS = 30_000;

/** Serves dist/ and the files of the bench, and starts a Chromium. Call `close` when done. */
export async function startBrowser() {
  const files = {
    name: 'bench-files',
    configurePreviewServer: ({ middlewares }) => {
      middlewares.use(FILES, ({ url }, response) => {
        createReadStream(join(BENCH_FOLDER, basename(url))).pipe(response);
      });
    },
  };
  const server = await preview({
    root: ROOT,
    logLevel: 'warn',
    preview: { host: '127.0.0.1' },
    plugins: [files],
  });
  const program = findChromium();
  if (!program) throw new Error('No Chromium found: node scripts/install-programs.mjs');
  const process = await chromium.launchServer({ executablePath: program, args: chromiumFlags() });
  const browser = await chromium.connect(process.wsEndpoint());
  return {
    browser,
    pid: process.process().pid,
    url: server.resolvedUrls.local[0],
    /** Where a file of the bench is served. */
    addressOf: (path) => `${FILES}/${basename(path)}`,
    async close() {
      await process.close();
      await server.close();
    },
  };
}

/** Bytes of JavaScript and CSS, gzipped, that the page loads before a file is opened. */
export async function measurePageWeight({ browser, url }) {
  const page = await browser.newPage();
  const bodies = [];
  page.on('response', (response) => {
    if (/\.(js|css)(\?|$)/.test(response.url())) bodies.push(response.body());
  });
  await page.goto(url);
  await page.evaluate(() => window.vramscope.whenIdle());
  // What the page fetches once it is idle is of it too.
  await page.waitForLoadState('networkidle');
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).length);
  await page.close();
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A page with the probe in a window that has come to rest. @param {{ browser: any }} started */
async function openWindow({ browser }) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  await page.addInitScript(installProbe);
  await page.waitForTimeout(WINDOW_MS);
  return page;
}

/**
 * Opens a file by the file input, zooms and pans in it, and then visits its views.
 * @param {Awaited<ReturnType<typeof startBrowser>>} started
 * @param {import('./subjects.mjs').Subject} subject
 */
export async function measurePage(started, { path, hasViews }) {
  const { pid, url } = started;
  const page = await openWindow(started);
  try {
    await page.goto(url);
    await page.evaluate(() => window.vramscope.whenIdle());
    const stopWatching = watchTabMemory(pid);
    await giveFile(page, path);
    await untilPainted(page);
    const longTasksMs = await takeLongTasks(page);
    const timeline = page.getByTestId('timeline');
    // The findings are being looked for: neither may they hold up frames, nor frames them for long.
    const zoomMeanwhile = await framesOf(page, timeline, 'zoom');
    const marks = await page.evaluate(() => window.vramscope.marks());
    await page.waitForTimeout(SETTLE_MS);
    const { restBytes: soonBytes } = stopWatching();
    await page.waitForTimeout(REST_MS - SETTLE_MS);
    const memory = { soonBytes, ...stopWatching() };
    const zoom = await framesOf(page, timeline, 'zoom');
    const pan = await framesOf(page, timeline, 'pan');
    const opened = { marks, ...memory, longTasksMs, zoomMeanwhile, zoom, pan };
    return hasViews ? { ...opened, ...(await measureAllViews(page, pid)) } : opened;
  } catch (error) {
    return { failure: firstLine(error) };
  } finally {
    await page.close();
  }
}

/** What `measure` gives of a page in a window that has come to rest, and is closed then. */
export async function inWindow(started, measure) {
  const page = await openWindow(started);
  try {
    return await measure(page);
  } finally {
    await page.close();
  }
}

/** As a user would, by its path: Playwright would send the bytes to a browser that it did not start itself. */
export async function giveFile(page, path) {
  const cdp = await page.context().newCDPSession(page);
  const { result } = await cdp.send('Runtime.evaluate', {
    expression: `document.querySelector('[data-testid="file-input"]')`,
  });
  await cdp.send('DOM.setFileInputFiles', { files: [path], objectId: result.objectId });
  await cdp.detach();
}

/**
 * The views one after the other, and the memory of the tab once they have been seen. What goes wrong
 * in them leaves the figures of the opening as they are.
 */
async function measureAllViews(page, pid) {
  const stopViews = watchTabMemory(pid);
  const views = await measureViews(page).catch((error) => ({ failure: firstLine(error) }));
  await page.waitForTimeout(SETTLE_MS);
  const viewsMemory = stopViews();
  const stopWhatIf = watchTabMemory(pid);
  const whatIf = await measureWhatIf(page);
  await page.waitForTimeout(SETTLE_MS);
  return { views, viewsMemory, whatIf, whatIfMemory: stopWhatIf() };
}

const firstLine = (error) =>
  error instanceof Error ? error.message.split('\n')[0] : String(error);

/**
 * Waits for the picture of the file that was given, and gives the marks of its opening.
 * @param {number} [before] when the picture of the file before was painted
 */
export async function untilPainted(page, before) {
  const isDone = (earlier) => {
    const painted = window.vramscope?.marks().painted;
    const isNew = painted !== undefined && painted !== earlier;
    return isNew || document.querySelector('[data-testid=error]') !== null;
  };
  await page.waitForFunction(isDone, before, { timeout: OPEN_LIMIT_MS, polling: 100 });
  const marks = await page.evaluate(() => window.vramscope.marks());
  if (marks.painted === undefined) {
    throw new Error(`The page says: ${await page.getByTestId('error').textContent()}`);
  }
  return marks;
}
