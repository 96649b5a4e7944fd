import { describe, expect, it } from 'vitest';
import { CSV_HEADER } from '../../../device/lists/rows-text.ts';
import { exportEvents } from './export-events.tsx';

/** A worker that writes the numbers of its rows. */
function setup(length: number) {
  const asked: [number, number][] = [];
  const steps: number[] = [];
  const controller = new AbortController();
  const read = async (from: number, to: number) => {
    controller.signal.throwIfAborted();
    asked.push([from, to]);
    return Array.from({ length: to - from }, (_, i) => `${from + i}\r\n`).join('');
  };
  const wanted = {
    read,
    length,
    onProgress: (rows: number) => steps.push(rows),
  };
  return { wanted, asked, steps, controller };
}

describe('an export', () => {
  it('is whole and in order, whatever the pieces', async () => {
    const { wanted, asked, steps } = setup(12_345);
    const text = await new Blob([...(await exportEvents(wanted))]).text();
    const lines = text.split('\r\n');
    expect(lines[0]).toBe(CSV_HEADER.trimEnd());
    expect(lines.slice(1, -1)).toEqual(Array.from({ length: 12_345 }, (_, i) => String(i)));
    expect(asked.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toBe(12_345);
  });

  it('is the heading alone for nothing', async () => {
    const { wanted } = setup(0);
    expect(await new Blob([...(await exportEvents(wanted))]).text()).toBe(CSV_HEADER);
  });

  it('stops when it is cancelled', async () => {
    const { wanted, asked, controller } = setup(1_000_000);
    const onProgress = () => controller.abort();
    await expect(exportEvents({ ...wanted, onProgress })).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });
});
