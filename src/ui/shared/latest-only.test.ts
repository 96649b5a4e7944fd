import { describe, expect, it } from 'vitest';
import { LatestOnly } from './latest-only.ts';

function asked(options: { readonly cancelsStale?: boolean } = {}) {
  const open: {
    readonly question: number;
    readonly signal: AbortSignal;
    settle(): void;
    fail(): void;
  }[] = [];
  const told: string[] = [];
  const latest = new LatestOnly<number, string>({
    ...options,
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        open.push({
          question,
          signal,
          settle: () => resolve(`state ${question}`),
          fail: () => reject(new Error('gone')),
        });
      }),
    onAnswer: (question, answer) => told.push(`${question}: ${answer}`),
    onError: (question, error) => told.push(`${question}: ${String(error)}`),
  });
  return { latest, open, told };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('the latest answer', () => {
  it('is asked for when the one before has come; those in between are left out', async () => {
    const { latest, open, told } = asked();
    for (const question of [1, 2, 3]) latest.want(question);
    expect(open.map(({ question }) => question)).toEqual([1]);
    open[0]?.settle();
    await settled();
    expect(open.map(({ question }) => question)).toEqual([1, 3]);
    open[1]?.settle();
    await settled();
    expect(told).toEqual(['1: state 1', '3: state 3']);
  });

  it('comes also after a failure', async () => {
    const { latest, open, told } = asked();
    latest.want(1);
    latest.want(2);
    open[0]?.fail();
    await settled();
    open[1]?.settle();
    await settled();
    expect(told).toEqual(['1: Error: gone', '2: state 2']);
  });

  it('is not told once it is stopped', async () => {
    const { latest, open, told } = asked();
    latest.want(1);
    latest.want(2);
    latest.stop();
    open[0]?.settle();
    await settled();
    expect(open).toHaveLength(1);
    expect(open[0]?.signal.aborted).toBe(true);
    expect(told).toEqual([]);
  });

  it('is not waited for behind a stale one where that is cancelled', async () => {
    const { latest, open, told } = asked({ cancelsStale: true });
    latest.want(1);
    latest.want(2);
    await settled();
    expect(open.map(({ question, signal }) => [question, signal.aborted])).toEqual([
      [1, true],
      [2, false],
    ]);
    open[1]?.settle();
    await settled();
    expect(told).toEqual(['2: state 2']);
  });
});
