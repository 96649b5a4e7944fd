import { describe, expect, it } from 'vitest';
import { isRankFile, rankOfName } from './rank-of-name.ts';

describe('the rank in a name', () => {
  it.each([
    ['rank3.pickle', 3],
    ['rank_00003.pkl.gz', 3],
    ['mem-r12.pickle', 12],
    ['r3', 3],
    ['RANK-7.pickle', 7],
    ['iteration_10/rank0_memory_snapshot.pickle', 0],
    ['rank3/snapshot.pickle', 3],
    ['rank=5,step=10.pickle', 5],
    ['f_fsdp2_rank2.vramscope.json', 2],
    ['world8_global_rank_6.pickle', 6],
    ['ranks/snapshot.pickle', undefined],
    ['expr3.pickle', undefined],
    ['snapshot_3.pickle', undefined],
    ['rank3b.pickle', undefined],
  ])('%s', (name, rank) => {
    expect(rankOfName(name)).toBe(rank);
  });

  it.each([
    ['node1_gpu3.pickle', /gpu(\d+)/, 3],
    ['node1_gpu3.pickle', /node(?<node>\d+)_gpu(?<rank>\d+)/, 3],
    ['job-17.pickle', /\d+/, 17],
    ['rank3.pickle', /gpu(\d+)/, undefined],
    ['gpux.pickle', /gpu(.)/, undefined],
  ])('%s with %s', (name, pattern, rank) => {
    expect(rankOfName(name, pattern)).toBe(rank);
  });
});

it('of a folder, what may be a snapshot or a summary is read', () => {
  const names = [
    'rank0.pickle',
    'a.pkl.gz',
    'x.vramscope.json',
    'x.vramscope.json.gz',
    'trace.html',
  ];
  const others = ['rank0.log.gz', 'rank0.truth.json', '.rank0.pickle', 'notes.txt', 'data.tar.gz'];
  expect([...names, ...others].filter(isRankFile)).toEqual(names);
});
