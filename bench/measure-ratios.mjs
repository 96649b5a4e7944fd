/**
 * Times as shares of what CPython's pickle.load takes for the same file, since machines differ and one
 * machine differs from hour to hour: all in turn, five times over, the median of each.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { findPython } from '../scripts/find-python.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { openInPage } from './measure-page.mjs';
import { measureChild } from './measured-child.mjs';

const ROUNDS = 5;

/**
 * @param {Awaited<ReturnType<typeof import('./measure-page.mjs').startBrowser>>} started
 * @param {import('./subjects.mjs').Subject} subject
 * @returns medians in milliseconds, and the load average before and after; undefined without a Python
 */
export async function measureRatios(started, { path }) {
  const python = findPython();
  if (!python) return undefined;
  const startLoad = loadavg()[0];
  const load = 'import pickle, sys; pickle.load(open(sys.argv[1], "rb"))';
  const vramscope = (command) => [join(ROOT, 'bin', 'vramscope.mjs'), command, path];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      pickleLoad: await wallOf(python, ['-c', load, path]),
      ...(await openInPage(started, path)),
      stats: await wallOf(process.execPath, vramscope('stats')),
      analyze: await wallOf(process.execPath, vramscope('analyze')),
    });
  }
  const medians = Object.fromEntries(
    Object.keys(rounds[0]).map((name) => [name, median(rounds.map((times) => times[name]))]),
  );
  return { ...medians, rounds: ROUNDS, startLoad, endLoad: loadavg()[0] };
}

async function wallOf(command, args) {
  const { wallMs, failure } = await measureChild(command, args);
  if (failure) throw new Error(failure);
  return wallMs;
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
