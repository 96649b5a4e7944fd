/**
 * `node scripts/classes-table.mjs`: rewrites the table of docs/classes.md. For each labeled run in fixtures/classes,
 * it says how many bytes get the class that the program itself gave them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { replaceBetween, table } from './markdown.mjs';
import { isMain, ROOT } from './run-command.mjs';

export const CLASSES_PATH = join(ROOT, 'docs', 'classes.md');
/** Wrong classes are listed from a tenth of a percent of the peak. */
const LEAST_SHARE = 0.001;

/**
 * @param {string} text of docs/classes.md, which has the markers
 * @param {readonly (import('../src/testing/class-truth.ts').ClassAccuracy & { readonly name: string })[]} runs
 */
export function withAccuracyTable(text, runs) {
  const rows = runs.map(({ name, peakBytes, peakShare, timeShare, confusion }) => {
    const wrong = [...confusion]
      .filter(([pair, bytes]) => !isRight(pair) && bytes >= LEAST_SHARE * peakBytes)
      .map(([pair, bytes]) => `${pair}: ${mib(bytes)}`);
    const title = name.replace('classes/', '').replace('.pickle.gz', '');
    const cells = [title, mib(peakBytes), percent(peakShare), percent(timeShare)];
    return [...cells, wrong.join('<br>') || '–'];
  });
  const wrong = 'wrong at the peak (right class → class given)';
  const head = ['run', 'peak', 'right at the peak', 'right over time', wrong];
  return replaceBetween(text, 'classes', table(head, rows));
}

const isRight = (pair) => {
  const [right, given] = pair.split(' → ');
  return right === given;
};
/** Rounds down: 99.97 is not 100. */
const percent = (share) => `${(Math.floor(share * 1000) / 10).toFixed(1)}%`;
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

if (isMain(import.meta.url)) {
  const { module } = await runnerImport('/src/testing/class-truth.ts', { root: ROOT });
  const text = readFileSync(CLASSES_PATH, 'utf8');
  writeFileSync(CLASSES_PATH, withAccuracyTable(text, module.labeledRuns()));
}
