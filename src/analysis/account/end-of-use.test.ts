/** What of a leak the turn that ran out of memory was still using. */
import { describe, expect, it } from 'vitest';
import { adamAt, at, BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { mainAccount } from './account.ts';

const MIB = 2 ** 20;
const DONE = 7;
const LAYERS = 10;

/** Each turn of the loop loads, runs the model and keeps its graph; memory runs out in a line of the next turn. */
function keptAtOom(half: number, failing: Parameters<Program['oom']>[1]) {
  const program = new Program();
  for (let step = 0; step < DONE; step++) {
    program.work(1, [at(10)]);
    for (let i = 0; i < LAYERS; i++) program.alloc(MIB, forwardAt(20));
    program.work(2, BACKWARD);
    program.work(1, adamAt(25));
  }
  program.work(1, [at(10)]);
  for (let i = 0; i < half; i++) program.alloc(MIB, forwardAt(20));
  program.oom(MIB, failing);
  const account = mainAccount(new AnalysisInput(program.context()));
  const entry = account.entries.find(({ kind }) => kind.startsWith('kept'));
  return { bytes: entry?.bytes, goneBytes: entry?.without?.goneBytes };
}

describe('at an OOM', () => {
  it('what the running turn made is not gone without the leak', () => {
    const { bytes, goneBytes } = keptAtOom(6, forwardAt(20));
    expect(bytes).toBe((DONE * LAYERS + 6) * MIB);
    expect(goneBytes).toBe(DONE * LAYERS * MIB);
  });

  it('all is gone if the request is what the next turn begins with', () => {
    const { bytes, goneBytes } = keptAtOom(0, [at(10)]);
    expect(bytes).toBe(DONE * LAYERS * MIB);
    expect(goneBytes).toBe(DONE * LAYERS * MIB);
  });
});
