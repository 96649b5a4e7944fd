import { afterEach, describe, expect, it, vi } from 'vitest';
import { abortError, isAbortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { connect, type Handlers, type Remote, serve, transferring } from './rpc.ts';

interface Calls {
  readonly count: { readonly request: number; readonly progress: number; readonly result: string };
  readonly fail: { readonly request: string; readonly progress: never; readonly result: never };
  readonly wait: { readonly request: string; readonly progress: never; readonly result: string };
  readonly flip: {
    readonly request: Uint8Array<ArrayBuffer>;
    readonly progress: never;
    readonly result: Uint8Array<ArrayBuffer>;
  };
  readonly odd: { readonly request: string; readonly progress: never; readonly result: unknown };
}

const aborted: string[] = [];
const handlers: Handlers<Calls> = {
  count: (to, call) => {
    for (let i = 1; i <= to; i++) call.onProgress(i);
    return `counted to ${to}`;
  },
  fail: (kind) => {
    if (kind === 'load') throw new LoadError({ code: 'png', message: 'A PNG image.', byte: 7 });
    if (kind === 'cancel') throw abortError('Cancelled');
    if (kind === 'memory') throw new RangeError('Array buffer allocation failed');
    throw new TypeError('x is not a function');
  },
  wait: (name, call) =>
    new Promise((resolve) => {
      if (name === 'quick') resolve(name);
      call.signal.addEventListener('abort', () => {
        aborted.push(name);
        resolve(name);
      });
    }),
  flip: (bytes) => transferring(bytes.reverse(), [bytes]),
  odd: () => () => 'functions cannot be cloned',
};

const open: MessagePort[] = [];
function connected(): Remote<Calls> {
  const { port1, port2 } = new MessageChannel();
  open.push(port1, port2);
  serve(port2, handlers);
  return connect<Calls>(port1);
}

afterEach(() => {
  for (const port of open.splice(0)) port.close();
  aborted.length = 0;
});

describe('calls over a port', () => {
  it('answers, and tells progress in order before the answer', async () => {
    const seen: (number | string)[] = [];
    const result = await connected().call('count', 3, { onProgress: (n) => seen.push(n) });
    expect([...seen, result]).toEqual([1, 2, 3, 'counted to 3']);
  });

  it('keeps answers apart whose order differs from that of the calls', async () => {
    const remote = connected();
    const stop = new AbortController();
    const slow = remote.call('wait', 'slow', { signal: stop.signal });
    expect(await remote.call('wait', 'quick')).toBe('quick');
    stop.abort();
    await expect(slow).rejects.toSatisfy(isAbortError);
  });

  it('aborts on the page at once, and tells the other side', async () => {
    const remote = connected();
    const stop = new AbortController();
    const call = remote.call('wait', 'stopped', { signal: stop.signal });
    stop.abort();
    await expect(call).rejects.toSatisfy(isAbortError);
    await vi.waitFor(() => expect(aborted).toEqual(['stopped']));
  });

  it('does not even send a call whose signal is aborted already', async () => {
    const call = connected().call('wait', 'never', { signal: AbortSignal.abort() });
    await expect(call).rejects.toSatisfy(isAbortError);
    expect(aborted).toEqual([]);
  });

  it('moves buffers both ways and copies none', async () => {
    const sent = new Uint8Array([1, 2, 3]);
    const got = await connected().call('flip', transferring(sent));
    expect([...got]).toEqual([3, 2, 1]);
    expect(sent.byteLength).toBe(0);
  });
});

describe('errors over a port', () => {
  it('brings a LoadError over with all its fields', async () => {
    const error = await connected()
      .call('fail', 'load')
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(LoadError);
    expect(error).toMatchObject({
      message: 'A PNG image.',
      failure: { code: 'png', advice: '', byte: 7, partialEvents: undefined },
    });
  });

  it('makes a cancelled job an AbortError', async () => {
    await expect(connected().call('fail', 'cancel')).rejects.toSatisfy(isAbortError);
  });

  it('reports a bug as such, with its text, its place and what to do', async () => {
    await expect(connected().call('fail', 'bug')).rejects.toMatchObject({
      failure: {
        code: 'internal',
        message: expect.stringContaining('x is not a function'),
        advice: expect.stringMatching(/report.*rpc\.test\.ts:\d+/),
      },
    });
  });

  it('knows running out of memory from a bug', async () => {
    await expect(connected().call('fail', 'memory')).rejects.toMatchObject({
      failure: { code: 'out-of-memory' },
    });
  });

  it('fails a call whose answer cannot be sent, instead of leaving it without one', async () => {
    await expect(connected().call('odd', '')).rejects.toMatchObject({
      failure: { code: 'internal' },
    });
  });

  it('rejects what is pending and what comes later when the other side is gone', async () => {
    const remote = connected();
    const calls = [remote.call('wait', 'a'), remote.call('wait', 'b')];
    remote.end(new LoadError({ code: 'worker-crashed', message: 'It stopped.' }));
    for (const call of [...calls, remote.call('count', 1)]) {
      await expect(call).rejects.toMatchObject({ failure: { code: 'worker-crashed' } });
    }
  });
});
