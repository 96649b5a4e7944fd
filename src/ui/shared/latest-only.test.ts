import { describe, expect, it } from 'vitest';
import { LatestOnly } from './latest-only.ts';

function asked(options: { readonly cancelsStale?: boolean } = {}) {
  const open: {
    readonly request: number;
    readonly signal: AbortSignal;
    settle(): void;
    fail(): void;
  }[] = [];
  const reported: string[] = [];
  const latest = new LatestOnly<number, string>({
    ...options,
    ask: (request, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        open.push({
          request,
          signal,
          settle: () => resolve(`state ${request}`),
          fail: () => reject(new Error('gone')),
        });
      }),
    onResult: (request, answer) => reported.push(`${request}: ${answer}`),
    onError: (request, error) => reported.push(`${request}: ${String(error)}`),
  });
  return { latest, open, reported };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('LatestOnly', () => {
  it('sends the newest request when the one before has ended, and leaves out those in between', async () => {
    const { latest, open, reported } = asked();
    for (const request of [1, 2, 3]) latest.want(request);
    expect(open.map(({ request }) => request)).toEqual([1]);
    open[0]?.settle();
    await settled();
    expect(open.map(({ request }) => request)).toEqual([1, 3]);
    open[1]?.settle();
    await settled();
    expect(reported).toEqual(['1: state 1', '3: state 3']);
  });

  it('goes on after a failure', async () => {
    const { latest, open, reported } = asked();
    latest.want(1);
    latest.want(2);
    open[0]?.fail();
    await settled();
    open[1]?.settle();
    await settled();
    expect(reported).toEqual(['1: Error: gone', '2: state 2']);
  });

  it('reports nothing once it is stopped', async () => {
    const { latest, open, reported } = asked();
    latest.want(1);
    latest.want(2);
    latest.stop();
    open[0]?.settle();
    await settled();
    expect(open).toHaveLength(1);
    expect(open[0]?.signal.aborted).toBe(true);
    expect(reported).toEqual([]);
  });

  it('cancels a stale request where that is wanted', async () => {
    const { latest, open, reported } = asked({ cancelsStale: true });
    latest.want(1);
    latest.want(2);
    await settled();
    expect(open.map(({ request, signal }) => [request, signal.aborted])).toEqual([
      [1, true],
      [2, false],
    ]);
    open[1]?.settle();
    await settled();
    expect(reported).toEqual(['2: state 2']);
  });
});
