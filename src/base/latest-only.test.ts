import { describe, expect, it } from 'vitest';
import { isAbortError } from './errors.ts';
import { LatestOnly, type LatestOnlyOptions } from './latest-only.ts';

function setUp(options: LatestOnlyOptions = {}) {
  const latest = new LatestOnly(options);
  const begun: { readonly name: string; readonly signal: AbortSignal; end(error?: Error): void }[] =
    [];
  const ended: string[] = [];
  const run = (name: string, signal?: AbortSignal) =>
    latest
      .run(
        (signal) =>
          new Promise<string>((resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
            begun.push({ name, signal, end: (error) => (error ? reject(error) : resolve(name)) });
          }),
        signal,
      )
      .then(
        (result) => void ended.push(result),
        (error) => void ended.push(`${name}: ${isAbortError(error) ? 'dropped' : error}`),
      );
  return { latest, begun, ended, run };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe('LatestOnly', () => {
  it('begins the newest request when the previous one has ended, and drops those in between', async () => {
    const { begun, ended, run } = setUp();
    for (const name of ['a', 'b', 'c']) void run(name);
    expect(begun.map(({ name }) => name)).toEqual(['a']);
    begun[0]?.end();
    await settled();
    begun[1]?.end();
    await settled();
    expect(begun.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(ended).toEqual(['b: dropped', 'a', 'c']);
  });

  it('continues after a failure', async () => {
    const { begun, ended, run } = setUp();
    void run('a');
    void run('b');
    begun[0]?.end(new Error('gone'));
    await settled();
    begun[1]?.end();
    await settled();
    expect(ended).toEqual(['a: Error: gone', 'b']);
  });

  it('ends a request that a newer one replaces', async () => {
    const { begun, ended, run } = setUp({ isOutrun: () => true });
    void run('a');
    void run('b');
    await settled();
    expect(begun.map(({ name, signal }) => [name, signal.aborted])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    begun[1]?.end();
    await settled();
    expect(ended).toEqual(['a: dropped', 'b']);
  });

  it('drops what its caller no longer wants, waiting or running', async () => {
    const { begun, ended, run } = setUp();
    const [first, second] = [new AbortController(), new AbortController()];
    void run('never', AbortSignal.abort());
    void run('a', first.signal);
    void run('b', second.signal);
    second.abort();
    first.abort();
    await settled();
    expect(ended).toEqual(['never: dropped', 'b: dropped', 'a: dropped']);
    expect(begun.map(({ name }) => name)).toEqual(['a']);
    void run('c');
    begun[1]?.end();
    await settled();
    expect(ended.at(-1)).toBe('c');
  });

  it('drops everything when cancelled, and accepts later requests', async () => {
    const { latest, begun, ended, run } = setUp();
    void run('a');
    void run('b');
    latest.cancel();
    await settled();
    expect(begun.map(({ name, signal }) => [name, signal.aborted])).toEqual([['a', true]]);
    void run('c');
    begun[1]?.end();
    await settled();
    expect(ended).toEqual(['b: dropped', 'a: dropped', 'c']);
  });

  it('lets requests on their way arrive before it begins the newest', async () => {
    let letIn = () => {};
    const settle = () => new Promise<void>((resolve) => (letIn = resolve));
    const { begun, run } = setUp({ settle });
    void run('a');
    void run('b');
    letIn();
    await settled();
    expect(begun.map(({ name }) => name)).toEqual(['b']);
  });
});
