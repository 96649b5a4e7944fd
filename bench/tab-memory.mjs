/**
 * Memory of a tab, that is, of its Chromium renderer process, which includes the workers as threads. Private memory
 * (RssAnon + RssShmem of /proc) excludes the program file itself, about 100 MB that all tabs share. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { statusField } from './measured-child.mjs';

const SAMPLE_MS = 25;

/** Renderer processes below the browser process. @param {number} browserPid */
function rendererPids(browserPid) {
  const parents = new Map();
  for (const pid of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    parents.set(pid, statusField(pid, 'PPid'));
  }
  const isBelow = (pid) => {
    const parent = parents.get(pid);
    return parent === browserPid || (parent !== undefined && parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter((pid) => isBelow(pid) && isRenderer(pid));
}

function isRenderer(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer');
  } catch {
    return false;
  }
}

function privateBytes(pid) {
  const kilobytes = (statusField(pid, 'RssAnon') ?? 0) + (statusField(pid, 'RssShmem') ?? 0);
  return kilobytes * 1024;
}

/**
 * Follows the largest renderer: there is one tab, and sometimes a spare process.
 * @param {number} browserPid
 * @returns {() => {restBytes?: number, peakBytes?: number}} bytes now, and at the peak until first asked
 */
export function watchTabMemory(browserPid) {
  if (process.platform !== 'linux') return () => ({});
  const pids = rendererPids(browserPid);
  const current = () => Math.max(0, ...pids.map(privateBytes));
  let peakBytes = 0;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, current());
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return { restBytes: current(), peakBytes: Math.max(peakBytes, current()) };
  };
}
