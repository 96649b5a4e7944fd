/** Finds the browsers beside Chromium that the walk of `npm test` goes through. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FOLDERS, findProgram } from './find-program.mjs';

/** A snap sees neither our profile nor our files; Ubuntu's `firefox` is a small script that starts one. */
const isSnap = (path) =>
  realpathSync(path) === '/usr/bin/snap' ||
  (statSync(path).size < 65536 && readFileSync(path, 'utf8').includes('/snap/'));

/** @returns {string | undefined} */
export const findFirefox = () =>
  findProgram(
    ['firefox-esr', 'firefox'],
    ['/Applications/Firefox.app/Contents/MacOS/firefox'],
    (path) => !isSnap(path),
  );

/** WebKitGTK's driver, its own small browser, and a display for it. */
export function findWebkit() {
  const [driver, display] = [findProgram(['WebKitWebDriver']), findProgram(['Xvfb'])];
  const browser = miniBrowser();
  return driver && display && browser ? { driver, display, browser } : undefined;
}

const foldersIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name))
    : [];

/** /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser, or wherever else the system keeps it beside its programs. */
function miniBrowser() {
  const beside = (name) => FOLDERS.map((folder) => join(dirname(folder), name));
  const libraries = beside('lib');
  return [...libraries, ...beside('lib64'), ...beside('libexec'), ...libraries.flatMap(foldersIn)]
    .flatMap(foldersIn)
    .filter((folder) => /^webkit(2gtk|gtk)-/.test(basename(folder)))
    .map((folder) => join(folder, 'MiniBrowser'))
    .findLast((path) => existsSync(path));
}
