/** `node bench/update-docs.mjs`: puts the latest results into docs/performance.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceBetween } from '../scripts/markdown.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { resultsTable } from './results-table.mjs';
import { BENCH_FOLDER } from './subjects.mjs';

const results = JSON.parse(readFileSync(join(BENCH_FOLDER, 'results.json'), 'utf8'));
const path = join(ROOT, 'docs', 'performance.md');
writeFileSync(path, replaceBetween(readFileSync(path, 'utf8'), 'results', resultsTable(results)));
