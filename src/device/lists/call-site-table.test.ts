/** Call sites as table rows. */
import { expect, it } from 'vitest';
import { at, Program } from '../../testing/program.ts';
import { callSiteList } from './call-site-table.ts';

it('tells call sites of one line apart by the callers in which they differ', () => {
  const program = new Program();
  const [line, block] = [at(24, 'forward'), at(9, 'block')];
  const chains = [
    [line, block, at(36)],
    [line, block, at(37)],
    [line, at(10, 'other'), at(36)],
    [at(50), at(51)],
    [at(60)],
  ];
  for (const chain of chains) program.alloc(2 ** 20, chain);
  const { length, rows } = callSiteList(program.context(), undefined, 'first', false);
  const linesOf = rows(0, length).map(({ near }) => near.map(({ frame }) => frame.line));
  expect(linesOf).toEqual([[9, 36], [9, 37], [10], [51], []]);
});
