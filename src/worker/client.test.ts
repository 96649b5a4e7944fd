import { describe, expect, it } from 'vitest';
import { isAbortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { sessionInfoOf } from '../testing/device-info.ts';
import { fakeSession } from '../testing/fake-session.ts';
import { InThreadWorker } from '../testing/in-thread-worker.ts';
import { sourceOf } from './byte-source.ts';
import { createSessionClient, type SessionClientOptions } from './client.ts';
import { ALL_ALLOCATIONS } from './open-device.ts';
import type {
  FrameRequest,
  OpeningMethods,
  OpenProgress,
  OpenRequest,
  OpenSource,
  SessionApi,
} from './protocol.ts';
import { serve } from './rpc.ts';

const PROGRESS: OpenProgress = { phase: 'reading', readBytes: 0, totalBytes: 9, events: 0 };
const FRAME: FrameRequest = {
  deviceIndex: 0,
  viewport: { axis: 'event', x0: 0, x1: 1, y0: 0, y1: 1, width: 2, height: 2 },
  colorBy: 'stack',
  palette: { classes: new Uint32Array(4), background: 0, pending: 0, thin: 0 },
  lines: [],
  selected: -1,
  ...ALL_ALLOCATIONS,
};
const FILE: OpenSource = { kind: 'blob', blob: new Blob(['x']), name: 'x' };
const OTHER: OpenSource = { kind: 'url', url: 'https://host/other' };
const EVENT = { deviceIndex: 0, timeUs: 1 };
const HIT = { deviceIndex: 0, state: 0, bytesFrom: 0, bytesTo: 1, ...ALL_ALLOCATIONS };
const never = (): Promise<never> => new Promise(() => undefined);

/** A worker's session: it opens at once, and never answers 'hit'. */
class FakeSession implements SessionApi {
  readonly asked: unknown[] = [];
  readonly query = fakeSession({
    frame: async ({ viewport }) => ({
      viewport,
      pixels: new Uint32Array(4).fill(7),
      states: new Int32Array(2),
      lines: { activeBytes: new Float64Array(2) },
      stackPeakBytes: 0,
    }),
    hit: never,
    eventAt: async () => this.number,
  }).query;
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
  open: SessionApi['open'] = async ({ source }, call) => {
    this.asked.push(source);
    call?.onProgress?.(PROGRESS);
    call?.onProgress?.({ ...PROGRESS, readBytes: 9 });
    return sessionInfoOf('x');
  };
  partialFrame: SessionApi['partialFrame'] = async ({ trace, width, height }) => ({
    viewport: { ...FRAME.viewport, x0: trace, width, height },
    pixels: new Uint32Array(width * height),
    states: new Int32Array(width),
    lines: {},
    stackPeakBytes: 0,
  });
  attachAnalysis = never;
  recycle: SessionApi['recycle'] = async ({ pixels }) => {
    this.asked.push([...pixels]);
    return undefined;
  };
}

/** A worker with such a session; `crash` does what the browser does to it. */
class FakeWorker extends InThreadWorker {
  readonly session: FakeSession;

  constructor(number: number) {
    const session = new FakeSession(number);
    // Tests change its behavior after this.
    const open: SessionApi['open'] = (...given) => session.open(...given);
    super((page) => serve<OpeningMethods>(page, { ...session, open }, session.query));
    this.session = session;
  }
}

function setUp(options: Partial<SessionClientOptions> = {}) {
  const workers: FakeWorker[] = [];
  const client = createSessionClient({
    idle: { during: (work) => work() },
    baseUrl: 'https://host/app/index.html?snapshot=x',
    ...options,
    createWorker: () => {
      const worker = new FakeWorker(workers.length);
      workers.push(worker);
      return worker;
    },
  });
  /** Of each worker. */
  const ended = () => workers.map(({ isTerminated }) => isTerminated);
  return { client, workers, ended };
}

/** A file that is read until `end` or `fail`. */
function slowOpening(worker: FakeWorker | undefined) {
  const settle = { end: () => {}, fail: (_: Error) => {} };
  if (worker !== undefined) {
    worker.session.open = () =>
      new Promise((resolve, reject) => {
        settle.end = () => resolve(sessionInfoOf('slow'));
        settle.fail = reject;
      });
  }
  return settle;
}

describe('the session client', () => {
  it('passes calls through and notes the stages of an opening', async () => {
    const reached: string[] = [];
    const timings = { start: () => reached.push('start'), reach: (s: string) => reached.push(s) };
    const { client } = setUp({ timings });
    expect(await client.open({ source: FILE })).toMatchObject({ file: { name: 'x' } });
    expect(reached).toEqual(['start', 'firstByte', 'decoded']);
    expect(await client.query('eventAt', EVENT)).toBe(0);
  });

  it('means URLs from the page', async () => {
    const { client, workers } = setUp();
    await client.open({ source: { kind: 'url', url: 'samples/oom.pickle' } });
    expect(workers[0]?.session.asked).toEqual([
      { kind: 'url', url: 'https://host/app/samples/oom.pickle' },
    ]);
    await expect(client.open({ source: { kind: 'url', url: 'http://[' } })).rejects.toMatchObject({
      failure: { code: 'bad-url' },
    });
  });

  it('moves the pixels of a frame there and back', async () => {
    const { client, workers } = setUp();
    await client.open({ source: FILE });
    const { pixels } = await client.query('frame', FRAME);
    expect([...pixels]).toEqual([7, 7, 7, 7]);
    await client.recycle({ pixels });
    expect(pixels).toHaveLength(0);
    expect(workers[0]?.session.asked.at(-1)).toEqual([7, 7, 7, 7]);
    const count = workers[0]?.session.asked.length;
    await client.recycle({ pixels });
    expect(workers[0]?.session.asked).toHaveLength(count ?? -1);
  });

  it('is busy for as long as a call is under way', async () => {
    let running = 0;
    const during = <T>(work: () => Promise<T>) => {
      running++;
      return work().finally(() => running--);
    };
    const { client } = setUp({ idle: { during } });
    await client.open({ source: FILE });
    const stop = new AbortController();
    const hit = client.query('hit', HIT, { signal: stop.signal });
    // Answered after the previous question was received.
    await client.query('eventAt', EVENT);
    expect(running).toBe(1);
    stop.abort();
    await expect(hit).rejects.toSatisfy(isAbortError);
    expect(running).toBe(0);
  });

  it('has nothing to ask about before a file is open', async () => {
    await expect(setUp().client.query('eventAt', EVENT)).rejects.toMatchObject({
      failure: { code: 'nothing-open' },
    });
  });
});

describe('one worker per file', () => {
  it('a second file opens in another worker, and then the first ends', async () => {
    const { client, workers, ended } = setUp();
    await client.open({ source: FILE });
    const second = client.open({ source: OTHER });
    expect(await client.query('eventAt', EVENT)).toBe(0);
    await second;
    expect(await client.query('eventAt', EVENT)).toBe(1);
    expect(ended()).toEqual([true, false]);
    expect(workers[0]?.session.asked).toHaveLength(1);
  });

  it('pending queries about the first are cancelled', async () => {
    const { client } = setUp();
    await client.open({ source: FILE });
    const { port1: port } = new MessageChannel();
    const asked = [client.query('hit', HIT), client.attachAnalysis({ port })];
    await client.open({ source: OTHER });
    for (const one of asked) await expect(one).rejects.toSatisfy(isAbortError);
  });

  it('cancelling a file ends its worker at once; the open one stays', async () => {
    const { client, workers, ended } = setUp();
    await client.open({ source: FILE });
    client.expectFile();
    slowOpening(workers[1]);
    const stop = new AbortController();
    const opening = client.open({ source: OTHER }, { signal: stop.signal });
    stop.abort();
    await expect(opening).rejects.toSatisfy(isAbortError);
    expect(ended()).toEqual([false, true]);
    expect(await client.query('eventAt', EVENT)).toBe(0);
    await client.open({ source: OTHER });
    expect(await client.query('eventAt', EVENT)).toBe(2);
    await expect(client.open({ source: OTHER }, { signal: AbortSignal.abort() })).rejects.toSatisfy(
      isAbortError,
    );
    expect(await client.query('eventAt', EVENT)).toBe(2);
  });

  it('a file that fails keeps the open one, and its readable part stays until the next', async () => {
    const { client, workers, ended } = setUp();
    await client.open({ source: FILE });
    const opening = client.open({ source: OTHER });
    const failing = new LoadError({ code: 'png', message: 'A picture.' });
    if (workers[1] !== undefined) workers[1].session.open = () => Promise.reject(failing);
    await expect(opening).rejects.toMatchObject({ failure: { code: 'png' } });
    expect(await client.query('eventAt', EVENT)).toBe(0);
    const { viewport } = await client.partialFrame({ ...FRAME, trace: 3, width: 2, height: 1 });
    expect(viewport).toMatchObject({ x0: 3, width: 2, height: 1 });
    await client.open({ source: OTHER });
    expect(ended()).toEqual([true, true, false]);
    await expect(
      client.partialFrame({ ...FRAME, trace: 3, width: 2, height: 1 }),
    ).rejects.toSatisfy(isAbortError);
  });

  it('of two files given at once, the second is opened', async () => {
    const { client, ended } = setUp();
    const first = client.open({ source: FILE });
    const second = client.open({ source: OTHER });
    await expect(first).rejects.toSatisfy(isAbortError);
    await second;
    expect(await client.query('eventAt', EVENT)).toBe(1);
    expect(ended()).toEqual([true, false]);
  });

  it('a spare worker waits for the first file, and for others only while one is expected', async () => {
    const { client, workers, ended } = setUp();
    client.expectFile()();
    expect(ended()).toEqual([false]);
    await client.open({ source: FILE });
    expect(workers).toHaveLength(1);
    const leave = client.expectFile();
    client.expectFile();
    expect(workers).toHaveLength(2);
    leave();
    expect(ended()).toEqual([false, true]);
    client.expectFile();
    await client.open({ source: OTHER });
    expect(ended()).toEqual([true, true, false]);
  });

  it('a spare worker waits again after a first file that failed', async () => {
    const { client, workers } = setUp();
    slowOpening(workers[0]);
    const stop = new AbortController();
    const opening = client.open({ source: FILE }, { signal: stop.signal });
    stop.abort();
    await expect(opening).rejects.toSatisfy(isAbortError);
    expect(workers).toHaveLength(2);
  });
});

describe('a worker that dies', () => {
  it('with the open file: all queries fail, and the next file opens', async () => {
    const { client, workers, ended } = setUp();
    await client.open({ source: FILE });
    const hit = client.query('hit', HIT);
    // Answered after the previous question was received.
    await client.query('eventAt', EVENT);
    workers[0]?.crash();
    for (const call of [hit, client.query('frame', FRAME)]) {
      await expect(call).rejects.toMatchObject({ failure: { code: 'worker-crashed' } });
    }
    await client.open({ source: FILE });
    expect(await client.query('eventAt', EVENT)).toBe(1);
    expect(ended()).toEqual([true, false]);
  });

  it('while it reads: that opening fails, and the open file stays', async () => {
    const { client, workers } = setUp();
    await client.open({ source: FILE });
    client.expectFile();
    slowOpening(workers[1]);
    const opening = client.open({ source: OTHER });
    workers[1]?.crash();
    await expect(opening).rejects.toMatchObject({ failure: { code: 'worker-crashed' } });
    expect(await client.query('eventAt', EVENT)).toBe(0);
  });

  it('before it is needed: another one takes its place', async () => {
    const { client, workers } = setUp();
    workers[0]?.crash();
    expect(await client.open({ source: FILE })).toMatchObject({ file: { name: 'x' } });
    expect(await client.query('eventAt', EVENT)).toBe(1);
  });
});

describe('a file of a page from disk', () => {
  /** Opens it in a worker that reads what the page sends. */
  function openFromDisk(blob: Blob, onChunk: (chunk: Uint8Array) => void) {
    const { client, workers } = setUp({ readsFiles: true });
    Object.assign(workers[0]?.session ?? {}, {
      open: async ({ source }: OpenRequest) => {
        expect(source.kind).toBe('page');
        const { name, chunks } = await sourceOf(source);
        for await (const chunk of chunks()) onChunk(chunk);
        return sessionInfoOf(name);
      },
    });
    return client.open({ source: { kind: 'blob', blob, name: 'a' } });
  }

  it('is read by the page for its worker', async () => {
    const texts: string[] = [];
    const blob = new Blob(['long '.repeat(2_000_000)]);
    const opened = openFromDisk(blob, (chunk) => texts.push(new TextDecoder().decode(chunk)));
    expect(await opened).toMatchObject({ file: { name: 'a' } });
    expect(texts).toHaveLength(2);
    expect(texts.join('')).toBe('long '.repeat(2_000_000));
  });

  it('says what is wrong with it', async () => {
    const slice = () => ({ arrayBuffer: () => Promise.reject(new Error('Gone')) });
    const big = Object.assign(new Blob(['x'.repeat(2 ** 20 + 1)]), { slice }) as unknown as Blob;
    await expect(openFromDisk(big, () => undefined)).rejects.toMatchObject({
      failure: { code: 'unreadable', message: expect.stringContaining('(Gone)') },
    });
    const folder = Object.assign(new Blob(['x']), { slice }) as unknown as Blob;
    await expect(openFromDisk(folder, () => undefined)).rejects.toMatchObject({
      failure: { code: 'folder', message: expect.stringContaining('folder') },
    });
  });
});

it('ends with its workers', async () => {
  const { client, ended } = setUp();
  await client.open({ source: FILE });
  client.close();
  expect(ended()).toEqual([true]);
  await expect(client.query('frame', FRAME)).rejects.toMatchObject({
    failure: { code: 'closed' },
  });
});
