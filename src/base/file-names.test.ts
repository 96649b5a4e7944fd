import { expect, it } from 'vitest';
import { fileName, shortPath, snapshotStem } from './file-names.ts';

it('finds the last part of a path of any system', () => {
  expect(fileName('/home/me/train.py')).toBe('train.py');
  expect(fileName('C:\\me\\train.py')).toBe('train.py');
  expect(fileName('<frozen runpy>')).toBe('<frozen runpy>');
});

it('keeps two parts of a path, and shorter paths whole', () => {
  expect(shortPath('/home/me/project/train/model.py')).toBe('train/model.py');
  expect(shortPath('C:\\me\\project\\model.py')).toBe('project/model.py');
  expect(shortPath('<frozen runpy>')).toBe('<frozen runpy>');
  expect(shortPath('??')).toBe('??');
});

it('removes all extensions of a snapshot, and no other dot', () => {
  expect(snapshotStem('run 7.pickle.gz')).toBe('run 7');
  expect(snapshotStem('v1.2_rank0.PKL')).toBe('v1.2_rank0');
  expect(snapshotStem('snapshot')).toBe('snapshot');
});

it('never turns a name into a path, device or hidden file', () => {
  expect(snapshotStem('../../.bashrc')).toBe('bashrc');
  expect(snapshotStem('/etc/cron.d/x.pickle')).toBe('x');
  expect(snapshotStem('C:\\Windows\\evil.pickle')).toBe('evil');
  expect(snapshotStem('a\u001b[2J\u202eb\u2028:c')).toBe('a_[2J_b__c');
  expect(snapshotStem('-rf.pickle')).toBe('rf');
  expect(['..', '', 'NUL.pickle', '.pickle', 'a/'].map(snapshotStem)).toEqual(
    Array(5).fill('snapshot'),
  );
  expect(snapshotStem(`${'x'.repeat(300)}.pickle`)).toBe('x'.repeat(50));
});
