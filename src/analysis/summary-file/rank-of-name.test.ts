import { describe, expect, it } from 'vitest';
import { haveOwnRanks, isRankFile, rankName, rankOfName } from './rank-of-name.ts';

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
    ['1718000000.5-TP-1-memory.pickle', 1],
    ['torch_memory_rank3_pid81.pickle', 3],
    ['oom_1718000000/oom_rank3.pickle', 3],
    ['snapshot_stop_step_rank3.pickle', 3],
    ['memory_snapshot_rank_3_step_10.pickle', 3],
    ['tp_rank_0_pp_rank_1.pickle', undefined],
    ['http2.pickle', undefined],
    ['ranks/snapshot.pickle', undefined],
    ['expr3.pickle', undefined],
    ['tmp-x1r3/snapshot.pickle', undefined],
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

it.each([
  ['1718.5-TP-1-memory-EXTEND.pickle', { mesh: { tp: 1 }, moment: 'EXTEND' }],
  [
    '1718.5-TP-0-DP-1-PP-2-memory-DECODE.pickle',
    { mesh: { tp: 0, dp: 1, pp: 2 }, moment: 'DECODE' },
  ],
  [
    'outputs/profile/step12/torch_memory_rank3_pid81.pickle',
    { rank: 3, mesh: {}, moment: 'step 12' },
  ],
  ['memory_snapshot_rank_3_step_10.pickle', { rank: 3, mesh: {}, moment: 'step 10' }],
  ['oom_rank3.pickle', { rank: 3, mesh: {}, moment: 'oom' }],
  ['snapshot_stop_step_rank3.pickle', { rank: 3, mesh: {}, moment: '' }],
  [
    'outputs/profile/oom_20260704_101500/torch_memory_rank3_pid81.pickle',
    { rank: 3, mesh: {}, moment: 'oom 20260704_101500' },
  ],
  ['oom_1718000000/oom_rank3.pickle', { rank: 3, mesh: {}, moment: 'oom 1718000000' }],
  ['tp_rank_01/zoom.pickle', { mesh: { tp: 1 }, moment: '' }],
])('%s: place in the mesh, and moment', (name, expected) => {
  expect(rankName(name)).toEqual({ rank: undefined, ...expected });
});

it('takes files for those of one job only if each has a rank of its own', () => {
  expect(haveOwnRanks(['rank0.pickle', 'rank1.pickle'])).toBe(true);
  expect(haveOwnRanks(['a/tp0.pickle', 'a/tp1.pickle'])).toBe(true);
  expect(haveOwnRanks(['step1_rank0.pickle', 'step2_rank0.pickle'])).toBe(false);
  expect(haveOwnRanks(['rank0.pickle', 'before.pickle'])).toBe(false);
  expect(haveOwnRanks(['before.pickle', 'after.pickle'])).toBe(false);
});

it('reads a folder only for possible snapshots and summaries', () => {
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
