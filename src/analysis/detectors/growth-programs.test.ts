/** The growth check on hand-made programs: piles that are given back, and graphs that a backward makes. */
import { expect, it } from 'vitest';
import { adamAt, at, BACKWARD, backwardAt, forwardAt, Program } from '../../testing/program.ts';
import { analyse } from '../findings/analyse.ts';

const MIB = 2 ** 20;

function step(program: Program): void {
  program.work(10, forwardAt(20));
  program.work(2, BACKWARD);
  program.work(1, adamAt(25));
}

it('counts a pile that goes after the last step, and names the lines that give piles back', async () => {
  const program = new Program();
  const epoch = (line: number) => {
    const outputs = Array.from({ length: 12 }, () => {
      const output = program.alloc(8 * MIB, [at(30)]);
      step(program);
      return output;
    });
    program.freeAt([at(line)], ...outputs);
  };
  epoch(40);
  epoch(41);
  const { findings } = await analyse(program.context());
  const pile = findings.find(({ kind }) => kind === 'freed-in-bursts');
  expect(pile?.claim).toContain(
    'is given back at once by train.py:40 (<module>) and train.py:41 (<module>), 2 times.',
  );
});

it('names the backward with create_graph=True that made most of a kept graph', async () => {
  const program = new Program();
  for (let i = 0; i < 14; i++) {
    program.work(8, forwardAt(20));
    for (const line of [20, 21, 22, 23]) program.alloc(MIB, forwardAt(line));
    program.work(1, [at(29)]);
    program.work(1, backwardAt(30));
    for (let layer = 0; layer < 4; layer++) program.alloc((2 + layer) * MIB, BACKWARD);
    program.work(1, adamAt(31));
  }
  const { verdict } = await analyse(program.context());
  expect(verdict).toMatchObject({ cause: 'kept-graph', pattern: 'created-graph' });
  expect([verdict.lines[0].line, verdict.bytes]).toEqual([30, 14 * 18 * MIB]);
  expect(verdict.advice[0].text).toContain('Leave out create_graph=True there.');
});

it('tells what is older than the recording apart from the backward pass: neither has a stack', async () => {
  const program = new Program();
  // Freed, but never allocated in what is recorded.
  const old = { addr: 2 ** 44, size: 64 * MIB };
  for (let i = 0; i < 6; i++) step(program);
  for (let i = 0; i < 3; i++) program.alloc(8 * MIB, BACKWARD);
  program.oom(256 * MIB, forwardAt(20));
  program.free(old);
  const { findings } = await analyse(program.context());
  const [before, backward] = findings.flatMap(({ parts }) =>
    parts.filter(({ stack }) => stack <= 0),
  );
  expect(before).toMatchObject({ bytes: 64 * MIB, count: 1, stackKind: 'before-recording' });
  expect(backward).toMatchObject({ bytes: 24 * MIB, count: 3, stackKind: 'no-python-stack' });
});
