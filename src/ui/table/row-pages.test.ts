import { describe, expect, it } from 'vitest';
import { RowPages, type RowSource } from './row-pages.ts';

interface Ask {
  readonly from: number;
  readonly to: number;
  readonly signal: AbortSignal;
  answer(): Promise<void>;
  refuse(error: Error): Promise<void>;
}

/** A source whose answers the test gives; row i is the number i. */
function setup(count: number) {
  const asks: Ask[] = [];
  let changes = 0;
  const settledAfter = (settle: () => void) => {
    settle();
    return new Promise<void>((resolve) => setTimeout(resolve));
  };
  const source: RowSource<number> = {
    count,
    load: (from, to, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
        const rows = Array.from({ length: to - from }, (_, i) => from + i);
        asks.push({
          from,
          to,
          signal,
          answer: () => settledAfter(() => resolve(rows)),
          refuse: (error) => settledAfter(() => reject(error)),
        });
      }),
  };
  const pages = new RowPages(source, () => changes++);
  return { pages, asks, changes: () => changes };
}

describe('pages of rows', () => {
  it('requests what is visible, once, and never past the end', async () => {
    const { pages, asks, changes } = setup(1000);
    pages.want({ from: 970, to: 1000 });
    pages.want({ from: 971, to: 1000 });
    expect(asks.map(({ from, to }) => [from, to])).toEqual([[896, 1000]]);
    expect(pages.row(999)).toBeUndefined();
    await asks[0]?.answer();
    expect(changes()).toBe(1);
    expect(pages.row(999)).toBe(999);
    pages.want({ from: 900, to: 1000 });
    expect(asks).toHaveLength(1);
  });

  it('requests nothing for an empty table', () => {
    const { pages, asks } = setup(0);
    pages.want({ from: 0, to: 0 });
    expect(asks).toHaveLength(0);
  });

  it('cancels what is no longer visible, and requests it again when it is back', async () => {
    const { pages, asks } = setup(10_000_000);
    pages.want({ from: 0, to: 30 });
    pages.want({ from: 5_000_000, to: 5_000_030 });
    expect(asks[0]?.signal.aborted).toBe(true);
    expect(asks[1]?.signal.aborted).toBe(false);
    pages.want({ from: 0, to: 30 });
    expect(asks).toHaveLength(3);
    await asks[2]?.answer();
    expect(pages.row(7)).toBe(7);
    expect(pages.failure).toBeUndefined();
  });

  it('forgets what was viewed longest ago, not what is visible', async () => {
    const { pages, asks } = setup(1_000_000);
    pages.want({ from: 0, to: 1 });
    await asks[0]?.answer();
    for (let page = 1; page <= 64; page++) {
      pages.want({ from: page * 128, to: page * 128 + 1 });
      await asks.at(-1)?.answer();
      pages.want({ from: 0, to: 1 });
    }
    expect(pages.row(0)).toBe(0);
    expect(pages.row(128)).toBeUndefined();
    expect(pages.row(64 * 128)).toBe(64 * 128);
  });

  it('says what could not be read, and retries it with the next request', async () => {
    const { pages, asks, changes } = setup(1000);
    pages.want({ from: 0, to: 10 });
    await asks[0]?.refuse(new Error('no memory'));
    expect(changes()).toBe(1);
    expect(pages.failure).toEqual(new Error('no memory'));
    expect(asks).toHaveLength(1);
    pages.want({ from: 0, to: 20 });
    await asks[1]?.answer();
    expect(pages.failure).toBeUndefined();
    expect(pages.row(3)).toBe(3);
  });

  it('leaves nothing running when closed', async () => {
    const { pages, asks, changes } = setup(1000);
    pages.want({ from: 0, to: 300 });
    pages.close();
    expect(asks.every(({ signal }) => signal.aborted)).toBe(true);
    await asks[0]?.answer();
    expect(changes()).toBe(0);
  });
});
