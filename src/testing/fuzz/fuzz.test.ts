import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { encodeSnapshot } from '../../format/snapshot-file/compact-snapshot.ts';
import { loadCapture } from '../captures.ts';
import { fuzzCase } from './cases.ts';
import { Commands } from './commands.ts';
import { isFault, judge } from './judge.ts';
import { Oracle } from './oracle.ts';

/** `npm run fuzz` runs more of them. */
const CASES = 400;
/** Running every command takes as long as reading a hundred files, so only every n-th case does it. */
const COMMANDS_EVERY = 100;
const oracle = Oracle.start();
const commands = new Commands();
afterAll(() => {
  oracle?.close();
  commands.close();
});

it('opens any file as CPython does, or with a warning, or says in words why not', async () => {
  const compact = encodeSnapshot(loadCapture('cuda_graph_pool.pickle.gz'));
  const faults: string[] = [];
  const ends = new Set<string>();
  for (let number = 0; number < CASES; number++) {
    const { kind, bytes } = fuzzCase(1, number, compact);
    const isPickle = kind === 'values' || kind === 'opcodes' || kind === 'bytes';
    const ask = oracle && isPickle ? () => oracle.ask(bytes) : undefined;
    const outcome = await judge(bytes, ask, number % COMMANDS_EVERY === 0 ? commands : undefined);
    ends.add(outcome.kind);
    if (isFault(outcome)) faults.push(`${number} (${kind}): ${outcome.kind}: ${outcome.detail}`);
  }
  expect(faults).toEqual([]);
  // If all cases ended alike, they would show nothing.
  expect(ends.size).toBe(oracle === undefined ? 3 : 4);
}, 300_000);

/** Cases that once failed, minimized; `npm run fuzz` made them. */
const KEPT = new URL('../../../fixtures/fuzz/', import.meta.url);

it.each(readdirSync(KEPT))('answers %s, which once failed', async (name) => {
  const bytes = new Uint8Array(readFileSync(new URL(name, KEPT)));
  const isPickle = name.endsWith('.pickle');
  const ask = oracle && isPickle ? () => oracle.ask(bytes) : undefined;
  const outcome = await judge(bytes, ask, commands);
  expect(isFault(outcome), outcome.detail).toBe(false);
});
