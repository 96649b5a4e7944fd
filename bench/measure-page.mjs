/** The page in Chromium: opening, memory, frames under real input, long tasks, what-if, page weight. */
import { gzipSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { preview } from 'vite';
import { chromiumFlags, findChromium } from '../scripts/find-chromium.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { measureWhatIf } from './measure-what-if.mjs';
import { watchTabMemory } from './tab-memory.mjs';

const OPEN_LIMIT_MS = 5 * 60_000;
const SETTLE_MS = 3_000;
const INPUTS = 60;
/** A wheel or a mouse reports about so often. */
const INPUT_EVERY_MS = 16;

/** Runs in the page before anything else: keeps what the browser measures. */
function observe() {
  window.benchEntries = { longtask: [], 'vramscope:frame': [] };
  new PerformanceObserver((list) => {
    for (const { name, entryType, duration } of list.getEntries()) {
      window.benchEntries[entryType === 'longtask' ? 'longtask' : name]?.push(duration);
    }
  }).observe({ entryTypes: ['longtask', 'measure'] });
}

/** Serves dist/ and starts a Chromium. Call `close` when done. */
export async function startBrowser() {
  const server = await preview({ root: ROOT, logLevel: 'warn', preview: { host: '127.0.0.1' } });
  const program = findChromium();
  if (!program) throw new Error('No Chromium found: node scripts/install-chromium.mjs');
  const process = await chromium.launchServer({ executablePath: program, args: chromiumFlags() });
  const browser = await chromium.connect(process.wsEndpoint());
  return {
    browser,
    pid: process.process().pid,
    url: server.resolvedUrls.local[0],
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
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body).length);
  await page.close();
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Opens a file by the file input and then zooms and pans in it.
 * @param {Awaited<ReturnType<typeof startBrowser>>} started
 * @param {import('./subjects.mjs').Subject} subject
 */
export async function measurePage({ browser, pid, url }, { path }) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  try {
    await page.addInitScript(observe);
    await page.goto(url);
    await page.evaluate(() => window.vramscope.whenIdle());
    const stopWatching = watchTabMemory(pid);
    await page.getByTestId('file-input').setInputFiles(path);
    await untilPainted(page);
    const longTasksMs = await page.evaluate(() => window.benchEntries.longtask);
    // The findings are being looked for: neither may they hold up frames, nor frames them for long.
    const zoomMeanwhile = await framesOf(page, zoomInAndOut);
    const marks = await page.evaluate(() => window.vramscope.marks());
    await page.waitForTimeout(SETTLE_MS);
    const memory = stopWatching();
    const zoom = await framesOf(page, zoomInAndOut);
    const pan = await framesOf(page, dragAbout);
    const whatIf = await measureWhatIf(page);
    return { marks, ...memory, longTasksMs, zoomMeanwhile, zoom, pan, whatIf };
  } catch (error) {
    return { failure: error instanceof Error ? error.message.split('\n')[0] : String(error) };
  } finally {
    await page.close();
  }
}

async function untilPainted(page) {
  const isDone = () =>
    window.vramscope.marks().painted !== undefined ||
    document.querySelector('[data-testid=error]') !== null;
  await page.waitForFunction(isDone, undefined, { timeout: OPEN_LIMIT_MS, polling: 100 });
  const marks = await page.evaluate(() => window.vramscope.marks());
  if (marks.painted === undefined) {
    throw new Error(`The page says: ${await page.getByTestId('error').textContent()}`);
  }
}

/** How long frames took, from the input event to the pixels, while `gesture` went on. */
async function framesOf(page, gesture) {
  await page.evaluate(() => {
    window.benchEntries['vramscope:frame'].length = 0;
  });
  const box = await page.getByTestId('timeline').boundingBox();
  await gesture(page, { x: box.x + box.width / 2, y: box.y + box.height / 2 });
  await page.evaluate(() => window.vramscope.whenIdle());
  const durations = await page.evaluate(() => window.benchEntries['vramscope:frame']);
  durations.sort((a, b) => a - b);
  const at = (share) =>
    durations[Math.min(durations.length - 1, Math.floor(durations.length * share))];
  return { frames: durations.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: durations.at(-1) };
}

async function zoomInAndOut(page, { x, y }) {
  await page.mouse.move(x, y);
  for (let i = 0; i < INPUTS; i++) {
    await page.mouse.wheel(0, i < INPUTS * 0.6 ? -100 : 100);
    await page.waitForTimeout(INPUT_EVERY_MS);
  }
}

async function dragAbout(page, { x, y }) {
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 0; i < INPUTS; i++) {
    await page.mouse.move(x + 200 * Math.sin(i / 8), y);
    await page.waitForTimeout(INPUT_EVERY_MS);
  }
  await page.mouse.up();
}
