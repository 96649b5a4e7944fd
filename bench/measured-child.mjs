/** Runs a program in its own process and measures it. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const SAMPLE_MS = 20;
const LIMIT_MS = 30 * 60_000;

/**
 * @param {string} command @param {readonly string[]} args
 * @returns {Promise<Measured>} `output` is what it printed; `failure` says how it failed, if it did
 * @typedef {{wallMs: number, peakBytes: number | undefined, output: string, failure: string | undefined}} Measured
 */
export function measureChild(command, args) {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS });
    let output = '';
    let errors = '';
    let peakBytes;
    // The kernel tracks the maximum itself, so the last reading before the end counts.
    const timer = setInterval(() => {
      peakBytes = peakResidentBytes(child.pid) ?? peakBytes;
    }, SAMPLE_MS);
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    const finish = (failure) => {
      clearInterval(timer);
      resolve({ wallMs: performance.now() - startMs, peakBytes, output, failure });
    };
    child.on('error', (error) => finish(error.message));
    child.on('close', (code, signal) => {
      finish(code === 0 ? undefined : `${signal ?? `exit code ${code}`}: ${errors.slice(-200)}`);
    });
  });
}

/** Milliseconds of a whole program. @throws when it fails */
export async function wallOf(command, args) {
  const { wallMs, failure } = await measureChild(command, args);
  if (failure) throw new Error(failure);
  return wallMs;
}

/** VmHWM on Linux; undefined elsewhere, and for a process that has ended. */
function peakResidentBytes(pid) {
  const kilobytes = statusField(pid, 'VmHWM');
  return kilobytes === undefined ? undefined : kilobytes * 1024;
}

/** A field of /proc/PID/status, in kB. */
export function statusField(pid, name) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const match = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status);
    return match ? Number(match[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** For an odd number of times. */
export const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];
