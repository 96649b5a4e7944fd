import { expect, it } from 'vitest';
import { at, Program } from '../../testing/program.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';

it('nothing waited for a stream, rather than at most 0 bytes', () => {
  const program = new Program();
  program.work(2, [at(20)]);
  expect(detect('pending-free', new AnalysisInput(program.context()))).toEqual({
    status: 'clear',
    checked: 'Nothing that was freed waited for a stream.',
  });
});
