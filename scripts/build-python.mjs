/**
 * `npm run build:python`: writes the wheel for pip to dist-python/. Builds the page and command line first if
 * missing.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findPython } from './find-programs.mjs';
import { ROOT, run } from './run-command.mjs';

const out = join(ROOT, 'dist-python');

async function build() {
  const python = findPython();
  if (python === undefined) {
    console.error('The wheel needs Python 3.9 or later: python3 was not found.');
    return 1;
  }
  const isBuilt = ['dist/vramscope.html', 'dist-cli/vramscope.mjs'].every((file) =>
    existsSync(join(ROOT, file)),
  );
  const code = isBuilt ? 0 : await run(process.execPath, [join(ROOT, 'scripts', 'build.mjs')]);
  if (code !== 0) return code;
  rmSync(out, { recursive: true, force: true });
  return run(python, [join(ROOT, 'python', 'build_wheel.py'), out]);
}

process.exitCode = await build();
