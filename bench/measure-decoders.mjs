/** In Node: our decoder beside pickleparser and CPython, and `vramscope stats` beside `pickle.load`. */
import { join } from 'node:path';
import { build } from 'vite';
import { findPython } from '../scripts/find-programs.mjs';
import { ROOT } from '../scripts/run-command.mjs';
import { measureChild } from './measured-child.mjs';
import { BENCH_FOLDER } from './subjects.mjs';

/** pickleparser needs six bytes of memory per byte. Larger files exceed Node's default heap, so it fails. */
const PICKLEPARSER_LIMIT_BYTES = 540e6;
const PICKLEPARSER_HEAP = '--max-old-space-size=12000';

/**
 * Bundles the core like the command line, because Node 20 cannot run TypeScript.
 * @param {string} root a checkout of this repository @param {string} outDir
 */
export async function buildNodeBenches(root = ROOT, outDir = join(BENCH_FOLDER, 'build')) {
  const source = (name) => join(root, 'bench', `${name}.ts`);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: true,
      copyPublicDir: false,
      rolldownOptions: {
        input: [source('decode-vramscope')],
      },
      outDir,
      emptyOutDir: true,
    },
  });
}

const python = findPython();

/** @param {import('./subjects.mjs').Subject} subject */
export async function measureDecoders({ path, bytes }) {
  const node = (script, ...flags) =>
    measure(process.execPath, [...flags, join(ROOT, script), path]);
  return {
    vramscope: await node('.bench/build/decode-vramscope.js'),
    pickleparser:
      bytes > PICKLEPARSER_LIMIT_BYTES
        ? { failure: 'too big for it' }
        : await node('bench/decode-pickleparser.mjs', PICKLEPARSER_HEAP),
    cpython: python
      ? await measure(python, [join(ROOT, 'bench/decode-cpython.py'), path])
      : { failure: 'no Python here' },
  };
}

/** @param {import('./subjects.mjs').Subject} subject */
export async function measureCli({ path }) {
  const cli = join(ROOT, 'bin', 'vramscope.mjs');
  const { wallMs, peakBytes, output, failure } = await measureChild(process.execPath, [
    cli,
    'stats',
    path,
    '--json',
  ]);
  if (failure) return { failure };
  const { devices } = JSON.parse(output);
  return { wallMs, peakBytes, anomalies: devices.reduce((sum, it) => sum + it.anomalies, 0) };
}

async function measure(command, args) {
  const { wallMs, peakBytes, output, failure } = await measureChild(command, args);
  return failure ? { failure } : { wallMs, peakBytes, ...JSON.parse(output) };
}
