import { expect, it } from 'vitest';
import { BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { allocatesText, lineShare, othersText } from './line-share.ts';

const TRAIN = { filename: '/workspace/train.py', line: 92 };

/** @param bytes by line; 0 is the backward pass */
function textsOf(bytes: Readonly<Record<number, number>>): [does: string, others: string] {
  const program = new Program();
  for (const [line, size] of Object.entries(bytes))
    program.alloc(size, line === '0' ? BACKWARD : forwardAt(Number(line)));
  const ids = program.tensors.map((_, id) => id);
  const share = lineShare(new AnalysisInput(program.context()), ids, TRAIN);
  return [allocatesText(share), othersText(share)];
}

it.each([
  [{ 92: 51_200, 93: 1_024 }, 'allocates it', ''],
  [{ 92: 9_216, 93: 1_024 }, 'allocates it', ' and train.py:93 (<module>)'],
  [{ 92: 6_144, 91: 4_096 }, 'allocates most of it', ' and train.py:91 (<module>)'],
  [{ 92: 3_072, 91: 3_072, 90: 4_096 }, 'allocates 30% of it', ' and 2 other lines'],
  [{ 92: 6_144, 0: 4_096 }, 'allocates most of it', ' and the backward pass'],
])('of %o line 92 %s', (bytes, does, others) => {
  expect(textsOf(bytes)).toEqual([does, others]);
});
