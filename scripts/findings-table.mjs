/**
 * `node scripts/findings-table.mjs [CLI]`: rewrites the tables of docs/findings.md. One lists the detectors as they
 * are declared. One lists what `vramscope analyze --json` finds in every capture of fixtures/. One compares the
 * programs of fixtures/pairs/, recorded with Python stacks and with all stacks. CLI: bin/vramscope.mjs; run `npm run
 * build` first.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { replaceBetween, table } from './markdown.mjs';
import { isMain, ROOT } from './run-command.mjs';

const FIXTURES = join(ROOT, 'fixtures');
export const FINDINGS_PATH = join(ROOT, 'docs', 'findings.md');
/**
 * One version is enough of a snapshot in many pickle protocols, or of a program with two kinds of stacks. Labeled
 * runs are for classes.
 */
const COPIES = /^(protocols_|pairs\/|classes\/)/;

/**
 * @param {string} text of docs/findings.md, which has the markers
 * @param {readonly import('../src/analysis/findings/types.ts').Detector[]} detectors
 */
export function withDetectorTable(text, detectors) {
  const rows = detectors.map(({ id, about, titles, highlight }) => {
    const kinds = Object.entries(titles).map(([kind, title]) => `${kind} (${title})`);
    return [id, about, kinds.join('<br>'), highlight.label];
  });
  const head = ['detector', 'looks for', 'kinds of findings', 'on the timeline'];
  return replaceBetween(text, 'detectors', table(head, rows));
}

/** @param {string} cli */
function capturesTable(cli) {
  const names = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pickle.gz') && !COPIES.test(name))
    .sort();
  const rows = names.flatMap((name) => captureRows(name, analyse(cli, name)));
  return table(['capture', 'verdict', 'findings above low', 'low', 'cannot tell'], rows);
}

function analyse(cli, name) {
  const args = [cli, 'analyze', '--json', join(FIXTURES, name)];
  return JSON.parse(execFileSync(process.execPath, args, { maxBuffer: 2 ** 28 }).toString());
}

function captureRows(name, { devices }) {
  return devices.map(({ device, verdict, findings, checks }) => {
    const title = name.replace('.pickle.gz', '');
    const low = findings.filter(({ severity }) => severity === 'low');
    const unknown = checks.filter(({ status }) => status === 'cannot-tell');
    return [
      devices.length > 1 ? `${title} (device ${device})` : title,
      verdictCell(verdict),
      aboveLow(findings).map(findingText).join('<br>') || '–',
      low.map(({ kind }) => kind).join(', ') || '–',
      unknown.length === checks.length
        ? 'all'
        : unknown.map(({ detector }) => detector).join(', ') || '–',
    ];
  });
}

const aboveLow = (findings) => findings.filter(({ severity }) => severity !== 'low');

/** @param {string} cli */
function pairsTable(cli) {
  const names = readdirSync(join(FIXTURES, 'pairs'))
    .filter((name) => name.endsWith('.python.pickle.gz'))
    .map((name) => name.replace('.python.pickle.gz', ''))
    .sort();
  const rows = names.map((name) => {
    const [python, all] = ['python', 'all'].map((stacks) => {
      const { devices } = analyse(cli, join('pairs', `${name}.${stacks}.pickle.gz`));
      return devices.map(pairCells);
    });
    const isSame = python[0].found === all[0].found;
    const [{ verdict, found }] = python;
    return [name, verdict, found, isSame ? 'the same' : all[0].found];
  });
  return table(['program', 'verdict', 'findings above low', 'with `stacks="all"`'], rows);
}

/** 'kept, kept-by-hook (high): scenarios.py:271' */
function verdictCell({ cause, pattern, severity, lines }) {
  if (severity === 'none') return cause;
  const [frame = null] = lines;
  return `${cause}${pattern === null ? '' : `, ${pattern}`} (${severity}): ${place(frame)}`;
}

/** Findings without figures, since two recordings of a program differ in a few blocks. */
function pairCells({ verdict, findings }) {
  const found = aboveLow(findings).map(findingName).join('<br>') || '–';
  return { verdict: verdict.text.replaceAll('|', '\\|'), found };
}

const findingName = ({ detector, kind, severity, frame }) =>
  `**${detector}** ${kind} (${severity}): ${place(frame)}`;

function findingText(finding) {
  const { perStep, bytes } = finding;
  const amount =
    perStep === null
      ? mib(bytes)
      : `${Math.round(perStep.bytes).toLocaleString('en-US')} bytes each ${perStep.unit}, ${perStep.steps} times`;
  return `${findingName(finding)}, ${amount}`;
}

const place = (frame) =>
  frame === null ? 'no line' : `${frame.file.split('/').pop()}:${frame.line}`;

const mib = (bytes) => `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;

if (isMain(import.meta.url)) {
  const { module } = await runnerImport(join(ROOT, 'src/analysis/findings/detectors.ts'));
  const cli = process.argv[2] ?? join(ROOT, 'bin', 'vramscope.mjs');
  const [captures, pairs] = [capturesTable(cli), pairsTable(cli)];
  const text = withDetectorTable(readFileSync(FINDINGS_PATH, 'utf8'), module.DETECTORS);
  writeFileSync(
    FINDINGS_PATH,
    replaceBetween(replaceBetween(text, 'captures', captures), 'pairs', pairs),
  );
}
