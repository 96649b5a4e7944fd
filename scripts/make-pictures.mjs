/** Takes the pictures of the README and docs again, with npm test's own browser: npm run build && node scripts/make-pictures.mjs */
import { runPackage } from './run-command.mjs';

const args = ['test', 'e2e/pictures.spec.ts', '--project', 'chromium', '--update-snapshots', 'all'];
const env = { ...process.env, MAKE_PICTURES: '1' };
process.exitCode = await runPackage('@playwright/test/cli.js', args, { env });
