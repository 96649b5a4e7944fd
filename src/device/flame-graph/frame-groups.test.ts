import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { matchAllocations } from '../search/match-search.ts';
import { FlameContext } from './flame-context.ts';
import { moduleName } from './frame-groups.ts';
import type { FlameGrouping } from './types.ts';

describe('modules', () => {
  it.each([
    ['forward', '/venv/lib/python3.12/site-packages/torch/nn/linear.py', 'torch'],
    ['run', 'C:\\py\\site-packages\\six.py', 'six'],
    ['get', '/usr/lib/python3.12/queue.py', 'python'],
    ['_run', '<frozen runpy>', 'python'],
    ['step', '/home/me/run/train.py', '/home/me/run'],
    ['step', 'train.py', 'train.py'],
  ])('of Python: %s in %s is %s', (symbol, filename, module) => {
    const { name, text } = moduleName(symbol, filename, true);
    expect(name).toBe(module);
    expect(filename).toContain(text);
  });

  it('of C++ are the outermost namespace', () => {
    expect(moduleName('at::native::mm', '??', false)).toEqual({ name: 'at', text: 'at::' });
    expect(moduleName('_start', '??', false).name).toBe('C and C++');
  });
});

describe('searches of boxes', () => {
  const [context] = contextsOf(loadCapture('train_gpt_cpp_stacks.pickle.gz'));
  const { event } = context.replay.peaks.activeBytes;
  const { start, end, length, sizeBytes } = context.replay.allocations;

  function liveBytes(search: string): number {
    const { mask, problem } = matchAllocations(context, search, undefined);
    expect(problem).toBeUndefined();
    let bytes = 0;
    for (let id = 0; id < length; id++) {
      if (start[id] <= event && end[id] > event && mask?.[id] === 1) bytes += sizeBytes[id];
    }
    return bytes;
  }

  function heaviest(by: FlameGrouping) {
    const flame = new FlameContext(context).flame(
      { groupBy: by, frames: 'known' },
      { set: { kind: 'live', event }, weight: 'bytes' },
    );
    const { rows } = flame.rows.page({ by: 'total', descending: true }, 0, 40);
    return rows.flatMap(({ group, total }) =>
      // Searching for frames without a known file finds exactly those.
      group.kind === 'frame' && group.search !== undefined ? [{ search: group.search, total }] : [],
    );
  }

  it('of lines find exactly what the box holds', () => {
    const rows = heaviest('line');
    expect(rows.length).toBeGreaterThan(20);
    for (const { search, total } of rows) expect(liveBytes(search), search).toBe(total);
  });

  it.each(['function', 'file', 'module'] as const)('of a %s find at least that', (by) => {
    for (const { search, total } of heaviest(by)) {
      expect(liveBytes(search), search).toBeGreaterThanOrEqual(total);
    }
  });
});
