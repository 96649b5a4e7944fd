/**
 * `npm run layers`: fails when an import breaks the rules, when nobody uses an export, or when
 * docs/architecture.md is out of date.
 */
import { readFileSync } from 'node:fs';
import { findViolations } from './find-violations.mjs';
import { ARCHITECTURE_PATH, withLayerTable } from './print-layers.mjs';
import { ROOT } from './run-command.mjs';

const { fileCount, violations } = findViolations(ROOT);
for (const { rule, from, to } of violations) console.error(`${rule}: ${from} → ${to}`);

const architecture = readFileSync(ARCHITECTURE_PATH, 'utf8');
const isStale = withLayerTable(architecture) !== architecture;
if (isStale) console.error('docs/architecture.md is stale: run `node scripts/print-layers.mjs`.');

console.log(`${fileCount} files, ${violations.length} imports and exports against the rules`);
process.exitCode = violations.length > 0 || isStale ? 1 : 0;
