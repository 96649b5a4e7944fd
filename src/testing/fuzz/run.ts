/** Runs cases `first` to `first + count` of a seed; the parent watches how far it is (scripts/fuzz.mjs). */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { SnapshotDecoder } from '../../core/snapshot/decoder.ts';
import { encodeSnapshot } from '../../core/snapshot-file/encode-snapshot.ts';
import { fuzzCase } from './cases.ts';
import { isFault, judge } from './judge.ts';
import { Oracle } from './oracle.ts';

const { seed, first, end, at } = workerData as {
  readonly seed: number;
  readonly first: number;
  readonly end: number;
  /** The case at hand, for the parent to see. */
  readonly at: Int32Array;
};

const decoder = new SnapshotDecoder();
decoder.push(gunzipSync(readFileSync('fixtures/cuda_graph_pool.pickle.gz')));
const compact = encodeSnapshot(decoder.finish());
const oracle = Oracle.start();
for (let number = first; number < end; number++) {
  Atomics.store(at, 0, number);
  const { kind, bytes } = fuzzCase(seed, number, compact);
  const isPickle = kind === 'values' || kind === 'opcodes' || kind === 'bytes';
  const startMs = performance.now();
  const outcome = await judge(bytes, oracle && isPickle ? () => oracle.ask(bytes) : undefined);
  parentPort?.postMessage({
    number,
    kind,
    outcome,
    ms: performance.now() - startMs,
    bytes: isFault(outcome) ? bytes : undefined,
  });
}
oracle?.close();
