/**
 * `node scripts/try-rank-recipes.mjs [PYTHON]`: runs the recipes of docs/ranks.md for summaries in parallel, as they
 * stand there, and checks that the rank that leaks is found in what they write. Wants `npm run build` before.
 * PYTHON: with Ray installed; without it that recipe is said to be untested.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './run-command.mjs';

const python = process.argv[2] ?? 'python3';
const docs = readFileSync(join(ROOT, 'docs', 'ranks.md'), 'utf8');
const program = join(ROOT, 'bin', 'vramscope.mjs');

const xargs = tryRecipe('xargs', 'bash', ['-euo', 'pipefail', '-c']);
const hasRay = spawnSync(python, ['-c', 'import ray']).status === 0;
const ray = hasRay ? tryRecipe('ray', python, ['-c']) : 'not run: Ray is not installed';
console.log(`xargs: ${xargs}\nRay: ${ray}`);
process.exitCode = [xargs, ray].some((outcome) => outcome.startsWith('failed')) ? 1 : 0;

/** @param {string} name @param {string} command @param {readonly string[]} args before the recipe's text */
function tryRecipe(name, command, args) {
  const recipe = new RegExp(`<!-- try: ${name} -->\\n\`\`\`\\w+\\n(.*?)\`\`\``, 's').exec(
    docs,
  )?.[1];
  if (recipe === undefined) return 'failed: docs/ranks.md has no such recipe';
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-recipe-'));
  try {
    const env = { ...process.env, PATH: `${binFolder(folder)}${delimiter}${process.env.PATH}` };
    mkdirSync(join(folder, 'snapshots'));
    // Rank 2 leaks; a majority of others makes it the odd one.
    for (const [rank, source] of [2, 3, 3, 3].entries()) {
      const file = join(ROOT, 'fixtures', 'fleet', `fsdp2_rank${source}.pickle.gz`);
      copyFileSync(file, join(folder, 'snapshots', `rank${rank}.pickle.gz`));
    }
    execFileSync(command, [...args, recipe], { cwd: folder, env, stdio: 'pipe' });
    const out = execFileSync(process.execPath, [program, 'ranks', 'summaries', '--json'], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { ranks, outliers } = JSON.parse(out);
    const isRight = ranks.length === 4 && outliers[0]?.rank === 0 && outliers[0].cause === 'growth';
    return isRight ? 'right' : `failed: ${out}`;
  } catch (error) {
    return `failed: ${error}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where `vramscope` is this build. @param {string} folder */
function binFolder(folder) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
  writeFileSync(join(bin, 'vramscope'), script, { mode: 0o755 });
  return bin;
}
