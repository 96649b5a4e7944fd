/**
 * `npm run fuzz`: opens malformed files (src/testing/fuzz) and reports the outcome.
 *
 *   --cases 100000   how many; 1,000 of seed 1 are part of `npm test`
 *   --seed 1         another seed makes other files
 *   --first 0        the first case
 *
 * A case that takes ten seconds or over 1.2 GB of memory is ended and counted. Files that were not handled well are
 * minimized and kept in .fuzz/. Useful ones stay in fixtures/fuzz, which the tests open.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build } from 'vite';
import { ROOT } from './run-command.mjs';

const LIMIT_MS = 10_000;
const LIMIT_BYTES = 1.2e9;

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
  },
});
const seed = Number(values.seed);
const end = Number(values.first) + Number(values.cases);
const folder = join(ROOT, '.fuzz');

/** How often each kind of file came to each end. @type {Map<string, Map<string, number>>} */
const counts = new Map();
let slowestMs = 0;
let highestBytes = 0;
let faults = 0;

process.chdir(ROOT);
mkdirSync(folder, { recursive: true });
await build({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: 'src/testing/fuzz/run.ts',
    copyPublicDir: false,
    outDir: join(folder, 'build'),
    rolldownOptions: { output: { entryFileNames: 'run.mjs' } },
  },
});
for (let next = Number(values.first); next < end; ) next = await runFrom(next);

for (const [kind, ends] of counts) {
  for (const [outcome, count] of ends)
    console.log(`${kind.padEnd(12)}${String(count).padStart(8)}  ${outcome}`);
}
console.log(
  `Slowest: ${(slowestMs / 1000).toFixed(1)} s; most memory: ${(highestBytes / 1e6).toFixed(0)} MB`,
);
console.log(`${end - Number(values.first)} cases, ${faults} not answered well`);
process.exitCode = faults > 0 ? 1 : 0;

/** Resolves to the next case to run: the one after the case that had to be ended. */
function runFrom(first) {
  const at = new Int32Array(new SharedArrayBuffer(8));
  at[0] = first;
  const worker = new Worker(join(folder, 'build', 'run.mjs'), {
    workerData: { seed, first, end, at },
    resourceLimits: { maxOldGenerationSizeMb: 1000 },
  });
  return new Promise((resolve) => {
    let seen = { number: first, judged: 0, sinceMs: performance.now() };
    let isStopped = false;
    const stop = (outcome) => {
      // Ending a worker also makes it exit.
      if (isStopped) return;
      isStopped = true;
      clearInterval(watch);
      if (outcome !== undefined)
        note({ number: at[0], kind: 'any', outcome: { kind: outcome, detail: '' } });
      void worker.terminate().then(() => resolve(outcome === undefined ? end : at[0] + 1));
    };
    const watch = setInterval(() => {
      highestBytes = Math.max(highestBytes, process.memoryUsage.rss());
      const isNew = at[0] !== seen.number || at[1] !== seen.judged;
      if (isNew) seen = { number: at[0], judged: at[1], sinceMs: performance.now() };
      else if (performance.now() - seen.sinceMs > LIMIT_MS) stop('no answer within 10 s');
      if (process.memoryUsage.rss() > LIMIT_BYTES) stop('more than 1.2 GB of memory');
    }, 100);
    worker.on('message', note);
    worker.on('error', (error) => stop(`the process broke: ${error.message}`));
    worker.on('exit', () => stop(undefined));
  });
}

function note({ number, kind, outcome, ms = 0, bytes }) {
  const ends = counts.get(kind) ?? new Map();
  counts.set(kind, ends.set(outcome.kind, (ends.get(outcome.kind) ?? 0) + 1));
  slowestMs = Math.max(slowestMs, ms);
  if (bytes === undefined && kind !== 'any') return;
  faults++;
  if (bytes !== undefined) writeFileSync(join(folder, `${seed}-${number}.bin`), bytes);
  console.log(`${number} (${kind}): ${outcome.kind}: ${outcome.detail}`);
}
