/** Finds a Chromium for the tests and benches. */
import { existsSync } from 'node:fs';
import { chromium } from '@playwright/test';
import { findProgram } from './find-program.mjs';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Where systems put a browser that is not on the PATH. */
const WELL_KNOWN = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/**
 * @param {(path: string) => boolean} [isRight]
 * @returns {string | undefined} the program: CHROMIUM_PATH, the one that Playwright downloaded, or
 *   one that the system has
 * @throws when CHROMIUM_PATH names a file that is not there
 */
export function findChromium(isRight = () => true) {
  const wanted = process.env.CHROMIUM_PATH;
  if (wanted && !existsSync(wanted)) throw new Error(`CHROMIUM_PATH: there is no ${wanted}`);
  if (wanted) return wanted;
  const downloaded = chromium.executablePath();
  if (existsSync(downloaded) && isRight(downloaded)) return downloaded;
  return findProgram(PROGRAMS, WELL_KNOWN, isRight);
}

/** Chromium's sandbox refuses to run as root; the rest keeps it from calling out on its own. */
export function chromiumFlags() {
  return [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ];
}
