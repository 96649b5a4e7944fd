/** Runs cases `first` to `first + count` of a seed. The parent watches its progress (scripts/fuzz.mjs). */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import { encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { fuzzCase } from './cases.ts';
import { Commands } from './commands.ts';
import { isFault, judge, type Outcome } from './judge.ts';
import { Oracle } from './oracle.ts';
import { shrink } from './shrink.ts';

const { seed, first, end, at } = workerData as {
  readonly seed: number;
  readonly first: number;
  readonly end: number;
  /** The current case and the number of commands run, so that the parent sees progress. */
  readonly at: Int32Array;
};

const decoder = new SnapshotDecoder();
decoder.push(gunzipSync(readFileSync('fixtures/cuda_graph_pool.pickle.gz')));
const compact = encodeSnapshot(decoder.finish());
const oracle = Oracle.start();
const commands = new Commands(() => Atomics.add(at, 1, 1));
for (let number = first; number < end; number++) {
  Atomics.store(at, 0, number);
  const { kind, bytes } = fuzzCase(seed, number, compact);
  const isPickle = kind === 'values' || kind === 'opcodes' || kind === 'bytes';
  const judged = (file: Uint8Array) => {
    Atomics.add(at, 1, 1);
    return judge(file, oracle && isPickle ? () => oracle.ask(file) : undefined, commands);
  };
  const startMs = performance.now();
  const outcome = await judged(bytes);
  const ms = performance.now() - startMs;
  const isSame = async (smaller: Uint8Array) => isAlike(await judged(smaller), outcome);
  const smallest = isFault(outcome) ? await shrink(bytes, isSame) : undefined;
  parentPort?.postMessage({ number, kind, outcome, ms, bytes: smallest });
}
oracle?.close();
commands.close();

/** Crashes with the same message count as one; their stacks may differ. */
function isAlike(one: Outcome, other: Outcome): boolean {
  if (one.kind !== other.kind) return false;
  const [first, second] = [one, other].map(({ detail }) => detail.split('\n')[0]);
  if (one.kind.startsWith('a command')) return first?.split(':')[0] === second?.split(':')[0];
  return one.kind !== 'crash' || first === second;
}
