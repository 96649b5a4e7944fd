/**
 * `node scripts/findings-table.mjs [CLI]`: runs `vramscope analyze --json` on every capture of
 * fixtures/ and writes what it says into docs/findings.md. CLI: bin/vramscope.mjs, which wants
 * `npm run build` before.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceBetween } from './replace-between.mjs';
import { isMain, ROOT } from './run-command.mjs';

const FIXTURES = join(ROOT, 'fixtures');
const DOC = join(ROOT, 'docs', 'findings.md');
/** One snapshot in many pickle protocols: once is enough. */
const COPIES = /^protocols_/;

/** @param {string} cli */
export function findingsTable(cli) {
  const names = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pickle.gz') && !COPIES.test(name))
    .sort();
  const rows = names.flatMap((name) => captureRows(name, analyse(cli, name)));
  return [
    '| capture | findings above low | low | cannot tell |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function analyse(cli, name) {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 28 };
  const out = execFileSync(
    process.execPath,
    [cli, 'analyze', '--json', join(FIXTURES, name)],
    options,
  );
  return JSON.parse(out);
}

function captureRows(name, { devices }) {
  return devices.map(({ device, findings, checks }) => {
    const title =
      name.replace('.pickle.gz', '') + (devices.length > 1 ? ` (device ${device})` : '');
    const grave = findings.filter(({ severity }) => severity !== 'low').map(graveText);
    const low = findings.filter(({ severity }) => severity === 'low').map(({ kind }) => kind);
    const unknown = checks
      .filter(({ status }) => status === 'cannot-tell')
      .map(({ detector }) => detector);
    const cells = [title, grave.join('<br>') || '–', low.join(', ') || '–'];
    const all = unknown.length === checks.length ? 'all' : unknown.join(', ') || '–';
    return `| ${[...cells, all].join(' | ')} |`;
  });
}

function graveText({ detector, kind, severity, frame, perStep, bytes }) {
  const where = frame === null ? 'no line' : `${frame.file.split('/').pop()}:${frame.line}`;
  const amount =
    perStep === null
      ? mib(bytes)
      : `${Math.round(perStep.bytes).toLocaleString('en-US')} bytes a step, ${perStep.steps} steps`;
  return `**${detector}** ${kind} (${severity}): ${where}, ${amount}`;
}

const mib = (bytes) => `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;

if (isMain(import.meta.url)) {
  const table = findingsTable(process.argv[2] ?? join(ROOT, 'bin', 'vramscope.mjs'));
  writeFileSync(DOC, replaceBetween(readFileSync(DOC, 'utf8'), 'captures', table));
}
