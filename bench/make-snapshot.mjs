/**
 * Makes a big snapshot from a small real one, by repeating a steady window of its events:
 *
 *   node bench/make-snapshot.mjs fixtures/train_gpt_small.pickle.gz out.pickle --events 5700000
 *
 * `--pickler cpp` writes it as PyTorch's C++ pickler does, else it is what CPython writes.
 */
import { mkdirSync, readFileSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { isMain } from '../scripts/run-command.mjs';
import { ByteWriter } from './byte-writer.mjs';
import { parsePickle } from './pickle-nodes.mjs';
import { CppPickler, PythonPickler } from './picklers.mjs';
import { repeatWindow } from './repeat-window.mjs';

/** An event with Python stacks is about 90 bytes; more is asked for so that the disk is not filled. */
const DISK_BYTES_PER_EVENT = 250;

/**
 * @param {string} source pickle of protocol 4, gzipped or not @param {string} target
 * @param {{events: number, pickler?: 'python' | 'cpp'}} options
 * @returns {{bytes: number, eventCount: number, windowEvents: number, repetitions: number}}
 * @throws when the disk has too little room, or the source has no steady window
 */
export function makeSnapshot(source, target, { events, pickler = 'python' }) {
  mkdirSync(dirname(target), { recursive: true });
  const { bavail, bsize } = statfsSync(dirname(target));
  const neededBytes = events * DISK_BYTES_PER_EVENT;
  if (bavail * bsize < neededBytes) {
    throw new Error(`${target}: needs ${neededBytes} bytes of disk, ${bavail * bsize} are free`);
  }
  const bytes = readFileSync(source);
  const snapshot = parsePickle(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
  const repeated = repeatWindow(snapshot, events);
  const out = new ByteWriter(target);
  const writer = pickler === 'cpp' ? new CppPickler(out) : new PythonPickler(out);
  writer.write(snapshot);
  writer.end();
  out.close();
  return { bytes: out.length, ...repeated };
}

if (isMain(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { events: { type: 'string' }, pickler: { type: 'string', default: 'python' } },
  });
  const [source, target] = positionals;
  const { pickler } = values;
  const isUsable = Number(values.events) > 0 && (pickler === 'python' || pickler === 'cpp');
  if (!source || !target || !isUsable) {
    console.error('make-snapshot.mjs SOURCE TARGET --events N [--pickler python|cpp]');
    process.exitCode = 2;
  } else {
    console.log(makeSnapshot(source, target, { events: Number(values.events), pickler }));
  }
}
