import { expect, it } from 'vitest';
import { fileName, shortPath, snapshotStem } from './file-names.ts';

it('finds the last part of a path of any system', () => {
  expect(fileName('/home/me/train.py')).toBe('train.py');
  expect(fileName('C:\\me\\train.py')).toBe('train.py');
  expect(fileName('<frozen runpy>')).toBe('<frozen runpy>');
});

it('keeps two parts of a path, and what has fewer whole', () => {
  expect(shortPath('/home/me/project/train/model.py')).toBe('train/model.py');
  expect(shortPath('C:\\me\\project\\model.py')).toBe('project/model.py');
  expect(shortPath('<frozen runpy>')).toBe('<frozen runpy>');
  expect(shortPath('??')).toBe('??');
});

it('takes all extensions of a snapshot off, and no other dot', () => {
  expect(snapshotStem('run 7.pickle.gz')).toBe('run 7');
  expect(snapshotStem('v1.2_rank0.PKL')).toBe('v1.2_rank0');
  expect(snapshotStem('snapshot')).toBe('snapshot');
});
