/** Gets a Chromium when there is none: Playwright's own, else that of the system when root. */
import { findChromium } from './find-chromium.mjs';
import { isMain, run, runPackage } from './run-command.mjs';

const ADVICE = `No Chromium found, and none could be installed. Install Chromium or Chrome and run again, or
name it: CHROMIUM_PATH=/path/to/chromium npm test`;

/**
 * @returns {Promise<string>} the program's path
 * @throws when there is none and none could be installed
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  console.log("No Chromium here; downloading Playwright's.");
  await runPackage('@playwright/test/cli.js', ['install', 'chromium']);
  if (!findChromium() && process.platform === 'linux' && process.getuid?.() === 0) {
    console.log("That failed; asking the system's package manager.");
    await run('apt-get', ['update']);
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']);
  }
  const installed = findChromium();
  if (!installed) throw new Error(ADVICE);
  return installed;
}

if (isMain(import.meta.url)) console.log(await ensureChromium());
