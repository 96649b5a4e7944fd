import { expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { poolKind } from './allocation-labels.ts';
import type { DeviceModel } from './device-model.ts';

const kindsOf = (context: DeviceModel) =>
  context.trace.pools.map(({ id }, pool) => [id.join(), poolKind(context, pool)]);

it('a recorded CUDA graph has a pool of its own', () => {
  const [context] = contextsOf(loadCapture('classes/cuda_graph.python.pickle.gz'));
  const kinds = kindsOf(context).filter(([, kind]) => kind !== undefined);
  expect(kinds.map(([, kind]) => kind)).toEqual(['CUDA graph']);
});

it('the allocating code takes precedence over the id', () => {
  const alloc = (addr: number, pool_id: readonly number[], filename = '/home/me/a.py') => {
    const frames = [{ name: 'f', filename, line: 1 }];
    return { action: 'alloc', addr, size: 512, pool_id, frames };
  };
  const packages = '/usr/lib/python3/site-packages/torch';
  const context = contextOf(
    traceOf(
      alloc(512, [0, 0]),
      alloc(1024, [0, 3]),
      alloc(2048, [4, 0]),
      alloc(4096, [0, 5], `${packages}/_inductor/cudagraph_trees.py`),
      alloc(8192, [0, 6], `${packages}/distributed/_symmetric_memory/__init__.py`),
    ),
  );
  expect(Object.fromEntries(kindsOf(context))).toEqual({
    '0,0': undefined,
    '0,3': 'MemPool',
    '4,0': 'CUDA graph',
    '0,5': 'cudagraph trees',
    '0,6': 'symmetric memory',
  });
});
