/**
 * Time until a small file is painted: in a page that was already open, in one that opened a file before, and from
 * navigating to a link that names the file.
 */
import { giveFile, inWindow, untilPainted } from './measure-page.mjs';

/** Runs per figure: a single run varies by a third. */
const RUNS = 5;
/** People take longer to choose a file. */
const WAIT_MS = 5000;

/**
 * @param {Awaited<ReturnType<typeof import('./measure-page.mjs').startBrowser>>} started
 * @param {import('./subjects.mjs').Subject} subject
 * @returns {Promise<{waitingMs: number[], secondMs: number[], linkMs: number[]}>} `linkMs` since the navigation
 */
export async function measureFirstPicture(started, { path }) {
  const times = { waitingMs: [], secondMs: [], linkMs: [] };
  for (let run = 0; run < RUNS; run++) {
    await inWindow(started, async (page) => {
      await page.goto(started.url);
      times.waitingMs.push(await givenLater(page, path));
      times.secondMs.push(await givenLater(page, path));
    });
    await inWindow(started, async (page) => {
      const link = `${started.url}?snapshot=${encodeURIComponent(started.addressOf(path))}`;
      await page.goto(link, { waitUntil: 'commit' });
      await untilPainted(page);
      times.linkMs.push(await page.evaluate(() => window.bench.firstFrameMs));
    });
  }
  return times;
}

/** Milliseconds from the file to its picture, in a page that has been idle for a while. */
async function givenLater(page, path) {
  await page.evaluate(() => window.vramscope.whenIdle());
  await page.waitForTimeout(WAIT_MS);
  const { painted: before } = await page.evaluate(() => window.vramscope.marks());
  await giveFile(page, path);
  return (await untilPainted(page, before)).painted;
}
