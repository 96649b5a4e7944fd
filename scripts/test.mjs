/**
 * `npm test`: runs all checks, even on a fresh clone. The last line is `N passed, N failed`. Each test of
 * vitest and Playwright counts as one, and so does each other check. A check that crashes, or runs no test, counts as
 * one failed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureReady } from './ensure-ready.mjs';
import { ROOT, run, runPackage } from './run-command.mjs';

const UNIT_REPORT = join(ROOT, 'test-results', 'unit.json');
const E2E_REPORT = join(ROOT, 'test-results', 'e2e.json');

/** Ends a check that hangs, so that the others still run. Generous, for busy machines. */
const LIMIT = { timeout: 20 * 60_000 };

const total = { passed: 0, failed: 0 };
/** What could not be checked on this machine, and why. @type {string[]} */
const notRun = [];

/**
 * @param {string} title
 * @param {() => Promise<number>} work resolves to an exit code
 * @param {() => {passed: number, failed: number}} [count] counts the tests that it ran
 * @returns {Promise<boolean>} whether everything passed
 */
async function stage(title, work, count) {
  console.log(`\n=== ${title}`);
  const startMs = performance.now();
  const result = await outcome(work, count);
  total.passed += result.passed;
  total.failed += result.failed;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`--- ${title}: ${result.passed} passed, ${result.failed} failed (${seconds} s)`);
  return result.failed === 0;
}

async function outcome(work, count) {
  try {
    const code = await work();
    if (!count) return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
    const { passed, failed } = count();
    if (passed + failed === 0) console.error('No test ran.');
    const hasFailed = code !== 0 || passed + failed === 0;
    return { passed, failed: hasFailed ? Math.max(1, failed) : failed };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1 };
  }
}

function readReport(path) {
  if (!existsSync(path)) throw new Error('It ended without a report.');
  return JSON.parse(readFileSync(path, 'utf8'));
}

function countUnit() {
  const { numPassedTests, numFailedTests } = readReport(UNIT_REPORT);
  return { passed: numPassedTests, failed: numFailedTests };
}

/** The suite's tests with this status in Playwright's report; 'flaky' means that only the second try passed. */
const withStatus = (wanted, { specs = [], suites = [] }) => [
  ...specs.filter(({ tests }) => tests.some(({ status }) => status === wanted)),
  ...suites.flatMap((suite) => withStatus(wanted, suite)),
];

/** Why a test was skipped, such as a missing program. */
const reasonOf = ({ tests }) =>
  tests.flatMap(({ annotations }) => annotations.flatMap(({ description }) => description ?? []));

/** @param {string} path of a report by Playwright */
function countPlaywright(path) {
  const { stats, errors, suites } = readReport(path);
  for (const { file, title } of withStatus('flaky', { suites }))
    console.log(`Passed at the second try alone: ${file}: ${title}`);
  for (const spec of withStatus('skipped', { suites }))
    console.log(`Not run: ${spec.file}: ${spec.title}: ${reasonOf(spec).join('; ')}`);
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected + errors.length };
}

const runUnit = () => {
  rmSync(UNIT_REPORT, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${UNIT_REPORT}`];
  return runPackage('vitest/vitest.mjs', ['run', ...reporters], LIMIT);
};

/** Browsers, and the Python that some unit tests compare with. Anything unavailable is listed at the end. */
const bringPrograms = async () => {
  const { ensurePrograms } = await import('./install-programs.mjs');
  notRun.push(...(await ensurePrograms()));
  return 0;
};

/** All tests in Chromium, and a short walk in Firefox and WebKit if installed. */
const runE2e = async () => {
  rmSync(E2E_REPORT, { force: true });
  const { findStartingChromium } = await import('./install-programs.mjs');
  const chromium = findStartingChromium();
  if (chromium === undefined) throw new Error('Chromium is missing: see below.');
  const env = { ...process.env, CHROMIUM_PATH: chromium };
  return runPackage('@playwright/test/cli.js', ['test'], { ...LIMIT, env });
};

/** Tests of the pip package. They mostly wait, so they run beside the browsers. */
const runPython = async () => {
  const { findPython } = await import('./find-programs.mjs');
  const python = findPython();
  if (python === undefined) throw new Error('Python 3 is missing: see below.');
  const args = ['-m', 'unittest', 'discover', '--buffer', '-s', 'tests'];
  return run(python, args, { ...LIMIT, cwd: join(ROOT, 'python') });
};

const script = (name) => () => run(process.execPath, [join(ROOT, 'scripts', name)], LIMIT);

/** Beside the unit tests, which leave a core idle now and then. @returns {Promise<boolean>} whether it is built */
async function checkAndBuild() {
  await stage('lint', () => runPackage('@biomejs/biome/bin/biome', ['ci', '.'], LIMIT));
  await stage('types', () => runPackage('typescript/bin/tsc', ['-b', '--force'], LIMIT));
  await stage('unused', () => runPackage('knip/bin/knip.js', [], LIMIT));
  return stage('build', script('build.mjs'));
}

async function runAll() {
  const isReady = await stage('install', () => ensureReady().then(() => 0));
  if (!isReady) return;
  await stage('programs', bringPrograms);
  const [isBuilt] = await Promise.all([checkAndBuild(), stage('unit', runUnit, countUnit)]);
  const e2e = () => countPlaywright(E2E_REPORT);
  if (isBuilt) await Promise.all([stage('e2e', runE2e, e2e), stage('python', runPython)]);
  else await stage('e2e', () => Promise.reject(new Error('Not run: there is no build to test.')));
}

// Whatever breaks, the count must be the last line.
let isDone = false;
process.on('exit', () => {
  if (!isDone) total.failed++;
  console.log('');
  for (const reason of notRun) console.log(`Not run: ${reason}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed > 0 ? 1 : 0;
});
await runAll();
isDone = true;
