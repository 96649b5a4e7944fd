import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { sourceLines } from './source-lines.ts';

const FILE = '/workspace/fixtures/pairs/capture.py';

describe('the lines of a file', () => {
  const [context] = contextsOf(loadCapture('pairs/leak_forward_hook.python.pickle.gz'));
  const { strings, frames } = context.snapshot;
  const files = [...new Set(Array.from(frames.filename, (name) => strings.get(name)))];
  const file = files.find((name) => name.endsWith('capture.py')) ?? FILE;
  const lines = sourceLines(context, file);
  const at = (line: number) => lines.find((one) => one.line === line);

  it('say what they and their callees allocated, held at the peak, and kept', () => {
    // A hook clones 8 MiB in each of 24 steps, and keeps them all.
    expect(at(338)).toEqual({
      line: 338,
      allocatedBytes: 24 * 2 ** 23,
      peakBytes: 24 * 2 ** 23,
      endBytes: 24 * 2 ** 23,
      allocations: 24,
      name: 'save_features',
    });
  });

  it('equal a sum over all allocations, one by one', () => {
    const { allocations, peaks } = context.replay;
    const last = context.trace.events.length - 1;
    for (const { line, allocatedBytes, peakBytes, endBytes, allocations: count } of lines) {
      const ids = Array.from({ length: allocations.length }, (_, id) => id).filter(
        (id) =>
          allocations.start[id] >= 0 &&
          context.stacks
            .view(allocations.stack[id])
            .frames.some((frame) => frame.filename === file && frame.line === line),
      );
      const bytesOf = (isLive: (id: number) => boolean) =>
        ids.filter(isLive).reduce((sum, id) => sum + allocations.sizeBytes[id], 0);
      const liveAt = (event: number) => (id: number) =>
        allocations.start[id] <= event &&
        Math.min(allocations.freeRequested[id], allocations.end[id]) > event;
      expect([count, allocatedBytes]).toEqual([ids.length, bytesOf(() => true)]);
      expect(peakBytes).toBe(bytesOf(liveAt(peaks.allocatedBytes.event)));
      expect(endBytes).toBe(bytesOf(liveAt(last)));
    }
  });

  it('are empty for a file that is in no stack', () => {
    expect(sourceLines(context, '/nowhere/else.py')).toEqual([]);
  });
});
