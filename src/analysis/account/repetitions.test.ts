/** What a repetition leaves behind, and what it is called. */
import { expect, it } from 'vitest';
import { NEVER } from '../../allocator/replay/types.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { adamAt, at, BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { endOfRepetition } from './end-of-use.ts';
import { rateOf, unitOf, wasDrained } from './repetitions.ts';

const MIB = 2 ** 20;
const STEPS = 12;

/** Line 21 keeps 1 MiB in each repetition; the ids are those live while the last one still holds `scratchBytes` more. */
function rateWhileRunning(scratchBytes: number) {
  const program = new Program();
  const live: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    program.work(1, [at(20)]);
    live.push(program.tensors.length);
    program.alloc(MIB, [at(21)]);
    if (scratchBytes > 0) {
      if (step === STEPS - 1) live.push(program.tensors.length);
      program.free(program.alloc(scratchBytes, [at(21)]));
    }
    program.work(1, [at(22)]);
  }
  const context = new AnalysisInput(program.context());
  return rateOf(context, live, context.input.replay.allocations.stack[live[0]]);
}

it('is what stays, not what the running repetition still holds', () => {
  expect(rateWhileRunning(0)).toMatchObject({ bytes: MIB, steps: STEPS, varies: false });
  expect(rateWhileRunning(40 * MIB)).toMatchObject({ bytes: MIB, varies: false });
});

it.each([
  ['leak_loss_graph', 'step'],
  ['pairs/leak_hf_trainer.python', 'step'],
  ['pairs/leak_output_list.python', 'iteration in leak_output_list'],
  ['others/llmfs_eval_graph_ring', 'batch'],
  ['others/ppo_rollout_ring', 'iteration at ppo_atari.py:163'],
])('of %s is called a %s', (name, unit) => {
  const context = new AnalysisInput(contextsOf(loadCapture(`${name}.pickle.gz`))[0]);
  const units = context.stepSequences.map((sequence) => unitOf(context, sequence));
  expect(units).toContain(unit);
  expect(unit === 'iteration in leak_output_list' && units.includes('step')).toBe(false);
});

it('ends as the next is made, where an optimizer skipped its first steps', () => {
  const program = new Program();
  const kept: number[] = [];
  for (let step = 0; step < 20; step++) {
    program.work(2, forwardAt(30));
    kept.push(program.tensors.length);
    program.alloc(MIB, [at(31)]);
    program.work(2, BACKWARD);
    if (step >= 10) program.work(1, adamAt(32));
  }
  const context = new AnalysisInput(program.context());
  const endOf = endOfRepetition(context, kept);
  const { start } = context.input.replay.allocations;
  for (const [i, id] of kept.slice(0, 9).entries()) {
    expect(endOf(id)).toBeGreaterThan(start[id]);
    expect(endOf(id)).toBeLessThanOrEqual(start[kept[i + 1]]);
  }
});

it('of what comes in each fifth step ends with the next of them', () => {
  const program = new Program();
  const kept: number[] = [];
  for (let step = 0; step < 20; step++) {
    program.work(2, forwardAt(30));
    if (step % 5 === 0) {
      kept.push(program.tensors.length);
      program.alloc(MIB, [at(31)]);
    }
    program.work(2, BACKWARD);
    program.work(1, adamAt(32));
  }
  const context = new AnalysisInput(program.context());
  const { start } = context.input.replay.allocations;
  expect(kept.slice(0, -1).map(endOfRepetition(context, kept))).toEqual(
    kept.slice(1).map((id) => start[id]),
  );
});

/** Whether what is made at events 0 to 9 counts as drained, in a run whose last step begins at event 80. */
function isDrained(freeRequested: readonly number[]): boolean {
  const allocations = {
    start: Int32Array.from(freeRequested.keys()),
    freeRequested: Int32Array.from(freeRequested),
    sizeBytes: new Float64Array(freeRequested.length).fill(2 ** 20),
  };
  const context = { input: { replay: { allocations } }, stepSequences: [{ bounds: [-1, 80, 90] }] };
  return wasDrained(context as unknown as AnalysisInput, [...freeRequested.keys()]);
}

it.each([
  ['one by one, while the steps go on', (i: number) => 20 + 5 * i, true],
  ['not at all', () => NEVER, false],
  ['only when the program ends', () => 100, false],
])('a queue that is emptied %s', (_, freedAt, expected) => {
  expect(isDrained(Array.from({ length: 10 }, (__, i) => freedAt(i)))).toBe(expected);
});
