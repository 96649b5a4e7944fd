/** A job of many ranks: perturbed copies of real ones, on the page and on the command line. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../scripts/run-command.mjs';
import { BENCH_FOLDER } from './subjects.mjs';

const RANKS = 1024;
const SNAPSHOTS = 8;
const MIB = 2 ** 20;
/** Size of a summary: 1,024 take 64 MB in all. */
const SUMMARY_BYTES = 62_000;
const JOB = join(BENCH_FOLDER, 'ranks');

/** Milliseconds from the files to all ranks on screen. @param {{ browser: any, url: string }} started */
export async function measureRanksPage({ browser, url }) {
  const files = makeSummaries();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url);
  await page.evaluate(() => window.vramscope.whenIdle());
  await page.evaluate(() => {
    const given = () => performance.mark('given');
    document.querySelector('[data-testid="file-input"]').addEventListener('change', given, true);
  });
  await page.getByTestId('file-input').setInputFiles(files);
  const shownMs = await page
    .waitForFunction(() => {
      const count = document.querySelector('.ranks-toolbar span')?.textContent ?? '';
      const isWhole = count.startsWith('1,024') && document.querySelector('tr[data-rank]') !== null;
      return isWhole && performance.now() - performance.getEntriesByName('given')[0].startTime;
    })
    .then((handle) => handle.jsonValue());
  await page.close();
  return { shownMs };
}

/** Reads eight snapshots of one size in threads. @param {{ path: string }} subject of 20 MB */
export function measureRanksCli({ path }) {
  const folder = join(JOB, 'snapshots');
  mkdirSync(folder, { recursive: true });
  for (let rank = 0; rank < SNAPSHOTS; rank++) {
    const copy = join(folder, `rank${rank}.pickle`);
    if (!existsSync(copy)) copyFileSync(path, copy);
  }
  const program = join(ROOT, 'bin', 'vramscope.mjs');
  const before = performance.now();
  execFileSync(process.execPath, [program, 'ranks', folder, '--json'], { stdio: 'ignore' });
  return { readMs: performance.now() - before };
}

/**
 * Copies a real rank's summary, padded to the maximum size with call sites that hold nothing. Each copy's peak varies
 * a little; one rank holds twice as many tensors at its largest line.
 */
function makeSummaries() {
  const folder = join(JOB, 'summaries');
  mkdirSync(folder, { recursive: true });
  const real = join(ROOT, 'fixtures', 'fleet', 'fsdp2_rank0.vramscope.json');
  const full = filled(JSON.parse(readFileSync(real, 'utf8')));
  return Array.from({ length: RANKS }, (_, rank) => {
    const file = join(folder, `rank${rank}.vramscope.json`);
    writeFileSync(file, JSON.stringify(perturbed(full, rank)));
    return file;
  });
}

function filled(summary) {
  const { callSites, program } = summary;
  const [site] = callSites.filter(({ frame }) => frame !== null);
  for (let i = 0; JSON.stringify(summary).length < SUMMARY_BYTES; i++) {
    const line = (i * 7919 + 10 ** 6).toString(36).padStart(10, '0');
    const empty = { peakBytes: 0, peakCount: 0, endBytes: 0 };
    if (callSites.length < 150) callSites.push({ ...site, ...empty, key: line, line });
    program.keys.push(line);
    program.allocations.push(12);
    program.count++;
  }
  return summary;
}

function perturbed(summary, rank) {
  const isOdd = rank === 700;
  const { peak, callSites } = summary;
  const own = callSites.find(({ frame }) => frame !== null);
  // Deterministic, so that every run is the same.
  const shakenBytes = Math.round(Math.sin(rank * 12.9898) * 2 * MIB) + (isOdd ? own.peakBytes : 0);
  const bytes = peak.allocatedBytes.bytes + shakenBytes;
  const doubled = { ...own, peakBytes: 2 * own.peakBytes, peakCount: 2 * own.peakCount };
  return {
    ...summary,
    rank,
    file: { ...summary.file, name: `rank${rank}.pickle` },
    peak: { ...peak, allocatedBytes: { ...peak.allocatedBytes, bytes } },
    callSites: isOdd ? callSites.map((site) => (site === own ? doubled : site)) : callSites,
  };
}
