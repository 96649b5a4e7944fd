/** The page in Chromium: opening, memory, frames under real input, long tasks, views, page weight. */
import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { preview } from 'vite';
import { chromium, chromiumFlags, findChromium } from '../scripts/find-programs.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { framesOf } from './gestures.mjs';
import { measureViews, measureWhatIf } from './measure-views.mjs';
import { installProbe, takeLongTasks } from './page-probe.mjs';
import { BENCH_FOLDER } from './subjects.mjs';
import { watchTabMemory } from './tab-memory.mjs';

/** Time for a new window to finish its own work, such as preloading browser UI. */
const WINDOW_MS = 1500;
const OPEN_LIMIT_MS = 5 * 60_000;
/** URL path of the bench's files on the page's server. */
const FILES = '/bench-files';
/** Chromium releases pages about five seconds after the user leaves them. */
const SETTLE_MS = 10_000;
/** By then, Chromium has collected garbage, which it does 8 to 25 s after the last work. */
const REST_MS = 30_000;

/** Serves dist/ and the bench's files, and starts Chromium. Call `close` when done. */
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
    addressOf: (path) => `${FILES}/${basename(path)}`,
    async close() {
      await process.close();
      await server.close();
    },
  };
}

/** Gzipped bytes of JavaScript and CSS that the page loads before any file is opened. */
export async function measurePageWeight({ browser, url }) {
  const page = await browser.newPage();
  const bodies = [];
  page.on('response', (response) => {
    if (/\.(js|css)(\?|$)/.test(response.url())) bodies.push(response.body());
  });
  await page.goto(url);
  await page.evaluate(() => window.vramscope.whenIdle());
  // Includes what the page loads when idle.
  await page.waitForLoadState('networkidle');
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).length);
  await page.close();
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A page with the probe in a settled window. @param {{ browser: any }} started */
async function openWindow({ browser }) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  await page.addInitScript(installProbe);
  await page.waitForTimeout(WINDOW_MS);
  return page;
}

/**
 * Opens a file through the file input, zooms and pans in it, and then visits its views.
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
    // Measured while the findings are being computed: they must not slow down frames, nor the reverse for long.
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

/** Runs `measure` in a settled window and closes the window. */
export async function inWindow(started, measure) {
  const page = await openWindow(started);
  try {
    return await measure(page);
  } finally {
    await page.close();
  }
}

/** Sets the file by its path, as a user would. Playwright would send the bytes to a browser it did not start itself. */
export async function giveFile(page, path) {
  const cdp = await page.context().newCDPSession(page);
  const { result } = await cdp.send('Runtime.evaluate', {
    expression: `document.querySelector('[data-testid="file-input"]')`,
  });
  await cdp.send('DOM.setFileInputFiles', { files: [path], objectId: result.objectId });
  await cdp.detach();
}

/** Measures each view in turn, then the tab's memory. A failure here leaves the figures of the opening intact. */
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
 * Waits for the picture of the given file and returns the marks of its opening.
 * @param {number} [before] when the previous file's picture was painted
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
