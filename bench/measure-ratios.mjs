/**
 * Times relative to CPython's pickle.load on the same file, since machines differ and vary from hour to hour. Each is
 * measured in turn, five times, and the median counts.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { findPython } from '../scripts/find-programs.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { giveFile, inWindow, untilPainted } from './measure-page.mjs';
import { measureChild, median, wallOf } from './measured-child.mjs';

const ROUNDS = 5;

/**
 * @param {Awaited<ReturnType<typeof import('./measure-page.mjs').startBrowser>>} started
 * @param {import('./subjects.mjs').Subject} subject
 * @returns medians in milliseconds, and the load average before and after; undefined without Python
 */
export async function measureRatios(started, { name, goals, path }) {
  const python = findPython();
  if (!python) return undefined;
  const startLoad = loadavg()[0];
  const vramscope = (command) => [join(ROOT, 'bin', 'vramscope.mjs'), command, path];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      pickleLoad: await loadMs(python, path),
      ...(await inWindow(started, (page) => openIn(page, started.url, path))),
      stats: await wallOf(process.execPath, vramscope('stats')),
      analyze: await wallOf(process.execPath, vramscope('analyze')),
    });
  }
  const medians = Object.fromEntries(
    Object.keys(rounds[0]).map((name) => [name, median(rounds.map((times) => times[name]))]),
  );
  return { name, goals, ...medians, rounds: ROUNDS, startLoad, endLoad: loadavg()[0] };
}

/** Milliseconds from giving the file to a page that just loaded. */
async function openIn(page, url, path) {
  await page.goto(url);
  await page.evaluate(() => window.vramscope.whenIdle());
  await giveFile(page, path);
  const { painted, firstPixels = painted } = await untilPainted(page);
  return { firstPixels, painted };
}

/** pickle.load alone: after it, the process takes seconds to release three gigabytes. */
async function loadMs(python, path) {
  const script = join(ROOT, 'bench', 'decode-cpython.py');
  const { output, failure } = await measureChild(python, [script, path]);
  if (failure) throw new Error(failure);
  return JSON.parse(output).decodeMs;
}
