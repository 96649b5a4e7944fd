/**
 * `npm run endurance`: long use of the page (e2e/endurance.spec.ts) and an update while a file is open
 * (e2e/hosting.spec.ts), at length, and what the page held. `npm test` does less of it. Needs a build.
 *
 *   --files 200     how many are opened, one after another
 *   --cancels 100   how many openings are cancelled
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, runPackage } from './run-command.mjs';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '200' },
    cancels: { type: 'string', default: '100' },
  },
});
const env = {
  ...process.env,
  ENDURANCE_FILES: values.files,
  ENDURANCE_CANCELS: values.cancels,
};
const tests = ['endurance', 'hosting', '--workers=1', '--retries=0'];
process.exitCode = await runPackage('@playwright/test/cli.js', ['test', ...tests], { env });

/** Figures that a test notes beside its result. @returns {readonly { type: string, description: string }[]} */
const notesIn = ({ specs = [], suites = [] }) => [
  ...specs.flatMap(({ tests }) => tests.flatMap(({ annotations }) => annotations)),
  ...suites.flatMap(notesIn),
];
const report = JSON.parse(readFileSync(join(ROOT, 'test-results', 'e2e.json'), 'utf8'));
for (const { type, description } of notesIn(report)) console.log(`${type}: ${description}`);
