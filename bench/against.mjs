/**
 * `npm run bench -- --against REF`: measures decoding and replaying in Node for this working copy and another commit.
 * Alternates the two, so that a busy machine affects both alike.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { table } from '../scripts/markdown.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { buildNodeBenches } from './measure-decoders.mjs';
import { measureChild, median } from './measured-child.mjs';
import { BENCH_FOLDER } from './subjects.mjs';

const RUNS = 5;

/** @param {string} ref @param {readonly import('./subjects.mjs').Subject[]} subjects */
export async function measureAgainst(ref, subjects) {
  const ours = join(BENCH_FOLDER, 'build');
  const theirs = join(BENCH_FOLDER, 'build-against');
  await buildNodeBenches(ROOT, ours);
  await buildCommit(ref, theirs);
  console.log(`Median of ${RUNS} runs; load average ${load()}\n`);
  const rows = [];
  for (const { name, path } of subjects) {
    const runs = { theirs: [], ours: [] };
    for (let i = 0; i < RUNS; i++) {
      runs.theirs.push(await decode(theirs, path));
      runs.ours.push(await decode(ours, path));
    }
    for (const [what, timeOf] of [
      ['decoding', ({ decodeMs }) => decodeMs],
      ['opening', ({ decodeMs, replayMs }) => decodeMs + replayMs],
    ]) {
      const [before, after] = [median(runs.theirs.map(timeOf)), median(runs.ours.map(timeOf))];
      const ratio = (before / after).toFixed(2);
      rows.push([name, what, `${before.toFixed(0)} ms`, `${after.toFixed(0)} ms`, ratio]);
    }
  }
  console.log(table(['file', 'what', ref, 'here', 'ratio'], rows));
  console.log(`\nLoad average at the end ${load()}. A ratio over 1: faster here.`);
}

/** Builds the benches of a commit in a temporary worktree. */
async function buildCommit(ref, outDir) {
  const tree = join(BENCH_FOLDER, 'against');
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, stdio: 'pipe' });
  rmSync(tree, { recursive: true, force: true });
  git('worktree', 'prune');
  git('worktree', 'add', '--detach', tree, ref);
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    await buildNodeBenches(tree, outDir);
  } finally {
    git('worktree', 'remove', '--force', tree);
  }
}

async function decode(folder, path) {
  const script = join(folder, 'decode-vramscope.js');
  const { output, failure } = await measureChild(process.execPath, [script, path]);
  if (failure) throw new Error(failure);
  return JSON.parse(output);
}

function load() {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');
}
