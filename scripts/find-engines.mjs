/** Finds the browsers beside Chromium that the walk of `npm test` goes through. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const folders = (process.env.PATH ?? '').split(':');

/**
 * @param {readonly string[]} names @param {readonly string[]} [elsewhere]
 * @param {(path: string) => boolean} [isRight]
 */
const findProgram = (names, elsewhere = [], isRight = () => true) =>
  [...folders.flatMap((at) => names.map((name) => join(at, name))), ...elsewhere].find(
    (path) => existsSync(path) && isRight(path),
  );

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

const LIBRARIES = ['/usr/lib', '/usr/lib64', '/usr/libexec'];
const foldersIn = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name))
    : [];

/** /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser, or wherever else the system keeps it. */
function miniBrowser() {
  return [...LIBRARIES, ...foldersIn('/usr/lib')]
    .flatMap(foldersIn)
    .filter((folder) => /^webkit(2gtk|gtk)-/.test(basename(folder)))
    .map((folder) => join(folder, 'MiniBrowser'))
    .findLast((path) => existsSync(path));
}
