import { describe, expect, it } from 'vitest';
import { CSV_HEADER } from '../../../device/lists/rows-text.ts';
import { eventNumber, exportEvents } from './events-view.tsx';

describe('the number of an event', () => {
  it('is read with and without separators', () => {
    expect(eventNumber('6195', 6302)).toBe(6195);
    expect(eventNumber(' 6,195 ', 6302)).toBe(6195);
    expect(eventNumber('1_234_567', 2_000_000)).toBe(1_234_567);
    expect(eventNumber('0', 1)).toBe(0);
  });

  it('is none beyond the trace, nor is anything else', () => {
    for (const text of ['6302', '-1', '1.5', '1,2', 'oom', '', '99999999999']) {
      expect(eventNumber(text, 6302)).toBeUndefined();
    }
  });
});

/** A worker that writes the numbers of its rows. */
function setup() {
  const asked: [number, number][] = [];
  const steps: number[] = [];
  const controller = new AbortController();
  const read = async (from: number, to: number) => {
    controller.signal.throwIfAborted();
    asked.push([from, to]);
    return Array.from({ length: to - from }, (_, i) => `${from + i}\r\n`).join('');
  };
  return { read, asked, steps, onProgress: (rows: number) => steps.push(rows), controller };
}

describe('an export', () => {
  it('is whole and in order, whatever the pieces', async () => {
    const { read, onProgress, asked, steps } = setup();
    const text = await new Blob([...(await exportEvents(read, 12_345, onProgress))]).text();
    const lines = text.split('\r\n');
    expect(lines[0]).toBe(CSV_HEADER.trimEnd());
    expect(lines.slice(1, -1)).toEqual(Array.from({ length: 12_345 }, (_, i) => String(i)));
    expect(asked.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toBe(12_345);
  });

  it('is the heading alone for nothing', async () => {
    const { read, onProgress } = setup();
    expect(await new Blob([...(await exportEvents(read, 0, onProgress))]).text()).toBe(CSV_HEADER);
  });

  it('stops when it is cancelled', async () => {
    const { read, asked, controller } = setup();
    const onProgress = () => controller.abort();
    await expect(exportEvents(read, 1_000_000, onProgress)).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });
});
