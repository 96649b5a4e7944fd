/** Finds the programs that tests and benches drive: Chromium, Firefox, WebKitGTK, Python. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: Biome does not see what a CommonJS module exports again.
import { chromium } from '@playwright/test';

export { chromium };

const FOLDERS = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');

/**
 * @param {readonly string[]} names the best first
 * @param {readonly string[]} [elsewhere] paths to try besides the PATH @param {(path: string) => boolean} [isRight]
 * @returns {string | undefined} the program's path
 */
export const findProgram = (names, elsewhere = [], isRight = () => true) =>
  [...FOLDERS.flatMap((at) => names.map((name) => join(at, name))), ...elsewhere].find(
    (path) => existsSync(path) && isRight(path),
  );

/** The headless shell draws no browser around the page, which takes a quarter of the tests' CPU time. */
const CHROMIUMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

const BESIDE_THE_PATH = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/**
 * @param {(path: string) => boolean} [isRight]
 * @returns {string | undefined} CHROMIUM_PATH, Playwright's download, or a system browser
 * @throws when CHROMIUM_PATH names a missing file
 */
export function findChromium(isRight = () => true) {
  const wanted = process.env.CHROMIUM_PATH;
  if (wanted && !existsSync(wanted)) throw new Error(`CHROMIUM_PATH: there is no ${wanted}`);
  if (wanted) return wanted;
  const downloaded = chromium.executablePath();
  if (existsSync(downloaded) && isRight(downloaded)) return downloaded;
  return findProgram(CHROMIUMS, BESIDE_THE_PATH, isRight);
}

/** Chromium's sandbox refuses to run as root; the other flags keep it from using the network on its own. */
export function chromiumFlags() {
  return [
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ];
}

/** A snap cannot access our profile or files. Ubuntu's `firefox` is a small script that starts one. */
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

/** /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser, or the equivalent path on other systems. */
function miniBrowser() {
  const beside = (name) => FOLDERS.map((folder) => join(dirname(folder), name));
  const libraries = beside('lib');
  return [...libraries, ...beside('lib64'), ...beside('libexec'), ...libraries.flatMap(foldersIn)]
    .flatMap(foldersIn)
    .filter((folder) => /^webkit(2gtk|gtk)-/.test(basename(folder)))
    .map((folder) => join(folder, 'MiniBrowser'))
    .findLast((path) => existsSync(path));
}

/**
 * @param {readonly string[]} [modules] that it must have
 * @returns {string | undefined} the command of a Python 3.9 or later
 */
export function findPython(modules = []) {
  const names = process.platform === 'win32' ? ['python', 'python3'] : ['python3', 'python'];
  const imports = ['sys', ...modules].join(', ');
  const code = `import ${imports}; sys.exit(sys.version_info < (3, 9))`;
  return names.find((name) => spawnSync(name, ['-c', code]).status === 0);
}
