/** What a caught error keeps, and what it does not. */
import { expect, it } from 'vitest';
import { at, forwardAt, movedAt, Program } from '../../testing/program.ts';
import { analyse } from '../findings/analyse.ts';

const MIB = 2 ** 20;

/** Tracks of which each second one fails after eight tensors of 64 MiB, which its error keeps if it is stored. */
function separated(isStored: boolean): Program {
  const program = new Program();
  for (let i = 0; i < 8; i++) program.alloc(4 * MIB, movedAt(3));
  for (let track = 0; track < 8; track++) {
    program.work(2, [at(10)]);
    const made = Array.from({ length: 8 }, () => program.alloc(64 * MIB, forwardAt(12)));
    if (track % 2 === 1) program.oom(512 * MIB, forwardAt(12), 256 * MIB);
    if (track % 2 === 0 || !isStored) program.freeAt([at(14)], ...made);
    program.work(10, [at(16)]);
  }
  program.alloc(64 * MIB, forwardAt(20));
  program.oom(512 * MIB, forwardAt(20), 256 * MIB);
  return program;
}

it('stored errors keep all that their calls had', async () => {
  const { verdict, account } = await analyse(separated(true).context());
  expect(verdict).toMatchObject({ cause: 'kept', pattern: 'kept-exceptions', bytes: 2 ** 31 });
  expect(verdict.lines[0].line).toBe(12);
  expect(account?.entries[0]).toMatchObject({ kind: 'kept', bytes: 2 ** 31, count: 32 });
});

it('an error that is dropped keeps nothing', async () => {
  const { verdict } = await analyse(separated(false).context());
  expect(verdict.pattern).not.toBe('kept-exceptions');
});
