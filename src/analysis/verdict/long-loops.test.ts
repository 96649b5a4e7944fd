/** Loops within a forward pass whose turns are most of the peak. */
import { expect, it } from 'vitest';
import { adamAt, at, BACKWARD, forwardAt, movedAt, Program } from '../../testing/program.ts';
import { analyse } from '../findings/analyse.ts';

const MIB = 2 ** 20;
/** In the model's forward, called by line 20. */
const inLoop = (line: number) => [
  at(line, 'attention'),
  at(200, 'forward'),
  ...forwardAt(20).slice(1),
];

interface Shape {
  readonly turns: number;
  /** Of the tensor that a turn makes. */
  readonly bytes: (turn: number) => number;
  readonly layers?: number;
}

async function verdictOf({ turns, bytes, layers = 1 }: Shape) {
  const program = new Program();
  for (let i = 0; i < layers; i++) program.alloc(MIB / 4, movedAt(3));
  for (let step = 0; step < 6; step++) {
    const graph = Array.from({ length: turns }, (_, turn) => [
      program.alloc(bytes(turn), inLoop(80)),
      program.alloc(MIB, inLoop(81)),
    ]);
    program.work(1, BACKWARD);
    program.free(...graph.flat());
    program.work(1, adamAt(25));
  }
  return (await analyse(program.context())).verdict;
}

it('are named with the line where their turns part, what they keep, and how often they turn', async () => {
  const verdict = await verdictOf({ turns: 100, bytes: () => 4 * MIB });
  expect(verdict).toMatchObject({ pattern: 'long-loop', tone: 'calm', bytes: 500 * MIB });
  expect(verdict.text).toContain('the loop around train.py:80 (attention) turns 100 times');
  expect(verdict.advice.map(({ id }) => id)).toEqual(['shorter-loop', 'checkpointing']);
});

it('are none with few turns, with shorter sequences that ended earlier, or of layers with weights each', async () => {
  const bytes = () => 4 * MIB;
  const patterns = [
    await verdictOf({ turns: 40, bytes: () => 12 * MIB }),
    await verdictOf({ turns: 100, bytes: (turn) => (120 - turn) * (MIB / 16) }),
    await verdictOf({ turns: 100, bytes, layers: 100 }),
  ].map(({ pattern }) => pattern);
  expect(patterns).toEqual([undefined, undefined, undefined]);
});
