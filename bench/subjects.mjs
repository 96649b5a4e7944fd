/** The files that are measured, and making them. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../scripts/run-command.mjs';
import { makeSnapshot } from './make-snapshot.mjs';

export const BENCH_FOLDER = join(ROOT, '.bench');
const SOURCE = join(ROOT, 'fixtures', 'train_gpt_small.pickle.gz');

/** As big as the real files that the budgets were set on: 513 MB, and 2 GB. */
const SUBJECTS = [
  { name: '1 MB', file: '1mb.pickle', events: 0, isSmall: true },
  { name: '20 MB', file: '20mb.pickle', events: 224_000, isSmall: true, hasViews: true },
  { name: '513 MB', file: '513mb.pickle', events: 5_770_000, isSmall: false, hasViews: true },
  { name: '2 GB', file: '2gb.pickle', events: 22_500_000, isSmall: false },
];

/**
 * @typedef {{name: string, path: string, bytes: number, hasViews: boolean}} Subject
 * `hasViews`: all views of the page are measured with it, not its opening alone
 * @param {boolean} onlySmall
 * @returns {readonly Subject[]} made where they are missing
 */
export function prepareSubjects(onlySmall) {
  return SUBJECTS.filter(({ isSmall }) => isSmall || !onlySmall).map((subject) => {
    const { name, file, events, hasViews = false } = subject;
    const path = join(BENCH_FOLDER, file);
    if (!existsSync(path)) {
      console.log(`Making the ${name} file`);
      makeSnapshot(SOURCE, path, { events });
    }
    return { name, path, bytes: statSync(path).size, hasViews };
  });
}
