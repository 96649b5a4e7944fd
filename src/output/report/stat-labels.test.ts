import { expect, test } from 'vitest';
import { runToEnd } from '../../base/task.ts';
import { MemoryStats, STAT_NAMES } from '../../device/memory-summary/memory-stats.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { memoryText, STAT_TEXTS } from './summary-text.ts';

const textOf = (text: string) =>
  memoryText(
    runToEnd(new MemoryStats(contextsOf(snapshotFromText(text).snapshot)[0]).at(99)),
    'At the end',
  );

test('every figure has a label', () => {
  expect(STAT_TEXTS.map(({ name }) => name)).toEqual([...STAT_NAMES]);
});

test('the text is a table like that of memory_summary()', () => {
  const lines = textOf('+A 512 @a.py:1 f\n+B 3Mi @a.py:2 f\n-B').split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'At the end',
    '',
    '                         Current  Peak so far  Allocated in total  Freed in total',
    'Allocated memory       512 bytes     3.00 MiB            3.00 MiB        3.00 MiB',
    '  from large pool        0 bytes     3.00 MiB            3.00 MiB        3.00 MiB',
    '  from small pool      512 bytes    512 bytes           512 bytes         0 bytes',
  ]);
});

test('figures that the trace does not show are lower bounds', () => {
  const text = textOf('+A 512 @a.py:1 f\nrecord\n+B 512 @a.py:2 f');
  expect(text).toContain('≥ 1.00 KiB');
  expect(text).toContain('are unknown');
  expect(text).not.toContain('Current ≥');
});
