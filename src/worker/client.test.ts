import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAbortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { annotationTracks } from '../device/model/annotations.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { sessionInfoOf } from '../testing/device-info.ts';
import { blobSource } from './blob-source.ts';
import { createSessionClient, type SessionClientOptions } from './client.ts';
import { createIdleCounter, createMarks } from './instrumentation.ts';
import { pageBlob } from './page-blob.ts';
import type { OpenOptions, OpenProgress, OpenSource, SessionApi, WireSource } from './protocol.ts';
import { serveSession } from './session.ts';
import { ALL_ALLOCATIONS, type FrameRequest } from './timeline-renderer.ts';

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

/** What the fake session was asked, in order; 'open' answers at once, 'hit' never. */
class FakeSession {
  readonly asked: unknown[] = [];
  /** Only what is asked here: the questions go the same way, whatever they are. */
  readonly api: Partial<SessionApi> = {
    open: async (source, _options, call) => {
      this.asked.push(source);
      call?.onProgress?.(PROGRESS);
      call?.onProgress?.({ ...PROGRESS, readBytes: 9 });
      return sessionInfoOf('x');
    },
    frame: async ({ viewport }) => ({
      viewport,
      pixels: new Uint32Array(4).fill(7),
      states: new Int32Array(2),
      lines: { activeBytes: new Float64Array(2) },
      stackPeakBytes: 0,
    }),
    hit: () => new Promise(() => undefined),
    minimap: async ({ width }) => ({
      activeBytes: new Float64Array(width),
      reservedBytes: new Float64Array(width),
    }),
    eventAt: async () => 5,
    findAllocation: async () => undefined,
    annotations: async () => annotationTracks([]),
    attachAnalysis: async () => {
      this.asked.push('attachAnalysis');
      return undefined;
    },
    recycle: async ({ pixels }) => {
      this.asked.push([...pixels]);
      return undefined;
    },
  };
}

/** A worker that is a port and a list of listeners; `die` is what the browser does to it. */
class FakeWorker {
  isTerminated = false;
  readonly session = new FakeSession();
  readonly #onError: ((event: Event) => void)[] = [];

  postMessage(_message: unknown, [port]: Transferable[]): void {
    if (port instanceof MessagePort) serveSession(port, this.session.api as SessionApi);
  }
  addEventListener(type: string, listener: (event: Event) => void): void {
    if (type === 'error') this.#onError.push(listener);
  }
  terminate(): void {
    this.isTerminated = true;
  }
  die(): void {
    for (const listener of this.#onError) listener(new Event('error'));
  }
}

const OTHER: OpenSource = { kind: 'url', url: 'https://host/other' };
const EVENT = { deviceIndex: 0, timeUs: 1 };
const never = (): Promise<never> => new Promise(() => undefined);

/** @param prepare is given the session of each worker but the first */
function setUp(
  options: SessionClientOptions = {},
  prepare: (session: FakeSession) => void = () => undefined,
) {
  const workers: FakeWorker[] = [];
  const client = createSessionClient({
    baseUrl: 'https://host/app/index.html?snapshot=x',
    ...options,
    createWorker: () => {
      const worker = new FakeWorker();
      if (workers.length > 0) prepare(worker.session);
      workers.push(worker);
      return worker as unknown as Worker;
    },
  });
  return { client, workers };
}

describe('the session client', () => {
  it('passes calls through and sets the marks of an opening', async () => {
    let nowMs = 100;
    const marks = createMarks(() => nowMs);
    const { client } = setUp({ marks });
    const opening = client.open(
      FILE,
      {},
      {
        onProgress: ({ readBytes }) => {
          nowMs += readBytes;
        },
      },
    );
    nowMs = 150;
    expect(await opening).toMatchObject({ file: { name: 'x' } });
    expect(marks.times()).toEqual({ firstByte: 50, decoded: 59 });
    expect(await client.eventAt({ deviceIndex: 0, timeUs: 1 })).toBe(5);
  });

  it('means URLs from the page', async () => {
    const { client, workers } = setUp();
    await client.open({ kind: 'url', url: 'samples/oom.pickle' }, {});
    expect(workers[0]?.session.asked).toEqual([
      { kind: 'url', url: 'https://host/app/samples/oom.pickle' },
    ]);
    await expect(client.open({ kind: 'url', url: 'http://[' }, {})).rejects.toMatchObject({
      failure: { code: 'bad-url' },
    });
  });

  it('moves the pixels of a frame there and back', async () => {
    const { client, workers } = setUp();
    const { pixels } = await client.frame(FRAME);
    expect([...pixels]).toEqual([7, 7, 7, 7]);
    await client.recycle({ deviceIndex: 0, pixels });
    expect(pixels).toHaveLength(0);
    expect(workers[0]?.session.asked).toEqual([[7, 7, 7, 7]]);
    await client.recycle({ deviceIndex: 0, pixels });
    expect(workers[0]?.session.asked).toHaveLength(1);
  });

  it('is busy for as long as a call is under way', async () => {
    const idle = createIdleCounter();
    const { client } = setUp({ idle });
    const stop = new AbortController();
    const hit = client.hit(
      { deviceIndex: 0, state: 0, bytesFrom: 0, bytesTo: 1, ...ALL_ALLOCATIONS },
      { signal: stop.signal },
    );
    expect(idle.running).toBe(1);
    stop.abort();
    await expect(hit).rejects.toSatisfy(isAbortError);
    expect(idle.running).toBe(0);
  });

  it('tells of a crash to all calls until a file is opened in a new worker', async () => {
    const { client, workers } = setUp();
    const hit = client.hit({
      deviceIndex: 0,
      state: 0,
      bytesFrom: 0,
      bytesTo: 1,
      ...ALL_ALLOCATIONS,
    });
    workers[0]?.die();
    for (const call of [hit, client.frame(FRAME)]) {
      await expect(call).rejects.toMatchObject({ failure: { code: 'worker-crashed' } });
    }
    expect(workers).toHaveLength(1);
    await client.open(FILE, {});
    expect(await client.frame(FRAME)).toMatchObject({ viewport: FRAME.viewport });
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('gives the error to an opening whose worker dies, and opens the next file', async () => {
    const { client, workers } = setUp();
    const [first] = workers;
    if (first !== undefined) Object.assign(first.session.api, { open: never });
    const opening = client.open(FILE, {});
    first?.die();
    await expect(opening).rejects.toMatchObject({ failure: { code: 'worker-crashed' } });
    expect(await client.open(FILE, {})).toMatchObject({ file: { name: 'x' } });
  });

  it('replaces a worker that does not stop when its opening is cancelled', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { client, workers } = setUp();
    const [busy] = workers;
    await client.open(FILE, {});
    if (busy !== undefined) Object.assign(busy.session.api, { open: never, eventAt: never });
    const stop = new AbortController();
    const cancelled = client.open(FILE, {}, { signal: stop.signal });
    const asked = client.eventAt({ deviceIndex: 0, timeUs: 1 });
    stop.abort();
    await expect(cancelled).rejects.toSatisfy(isAbortError);
    const next = client.open({ kind: 'blob', blob: new Blob(['y']), name: 'y' }, {});
    vi.advanceTimersByTime(999);
    expect(busy?.isTerminated).toBe(false);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    expect(busy?.isTerminated).toBe(true);
    // What was asked of the old worker is answered by the new one.
    expect(await next).toMatchObject({ file: { name: 'x' } });
    expect(await asked).toBe(5);
    expect(workers).toHaveLength(2);
  });

  /** FILE is open, and its worker was replaced because it did not stop reading another one. */
  async function setUpReplaced(prepare: (next: FakeSession) => void = () => undefined) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { client, workers } = setUp({}, prepare);
    await client.open(FILE, {});
    if (workers[0] !== undefined) Object.assign(workers[0].session.api, { open: never });
    const replaced = vi.fn();
    onTestFinished(client.onReplaced(replaced));
    const stop = new AbortController();
    const cancelled = client.open(OTHER, {}, { signal: stop.signal });
    stop.abort();
    await expect(cancelled).rejects.toSatisfy(isAbortError);
    expect(replaced).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect(replaced).toHaveBeenCalledOnce();
    return { client, asked: () => workers[1]?.session.asked };
  }

  it('reads the snapshot that was open once more after such a replacement', async () => {
    const { client, asked } = await setUpReplaced();
    expect(await Promise.all([client.eventAt(EVENT), client.eventAt(EVENT)])).toEqual([5, 5]);
    expect(asked()).toMatchObject([{ kind: 'blob', name: 'x' }]);
  });

  it('has it there for the analysis, too', async () => {
    const { client, asked } = await setUpReplaced();
    const { port1: port } = new MessageChannel();
    await client.attachAnalysis({ port });
    expect(asked()).toMatchObject([{ kind: 'blob', name: 'x' }, 'attachAnalysis']);
  });

  it('does not disturb the opening of another file for it, and goes on when that fails', async () => {
    const failed = new LoadError({ code: 'png', message: 'A picture.' });
    let fail: () => void = () => undefined;
    const { client, asked } = await setUpReplaced(({ api }) => {
      const { open } = api;
      const others = new Promise<never>((_, reject) => {
        fail = () => reject(failed);
      });
      Object.assign(api, {
        open: (source: OpenSource, ...rest: [OpenOptions]) =>
          source.kind === 'url' ? others : open?.(source, ...rest),
      });
    });
    const other = client.open(OTHER, {});
    const event = client.eventAt(EVENT);
    await client.recycle({ deviceIndex: 0, pixels: new Uint32Array(1) });
    expect(asked()).toEqual([[0]]);
    fail();
    await expect(other).rejects.toMatchObject({ failure: { code: 'png' } });
    expect(await event).toBe(5);
    expect(asked()).toMatchObject([[0], { kind: 'blob', name: 'x' }]);
  });

  it('reads a file for a worker that cannot', async () => {
    const { client, workers } = setUp();
    const texts: string[] = [];
    const kinds: string[] = [];
    const unreadable = new LoadError({ code: 'unreadable', message: 'No.', byte: 0 });
    if (workers[0] !== undefined) {
      Object.assign(workers[0].session.api, {
        open: async (source: WireSource) => {
          kinds.push(source.kind);
          if (source.kind !== 'page') throw unreadable;
          const decoder = new TextDecoder();
          const { chunks } = blobSource(pageBlob(source.port, source), source.name);
          for await (const chunk of chunks()) texts.push(decoder.decode(chunk, { stream: true }));
          return sessionInfoOf(source.name);
        },
      });
    }
    const blob = new Blob(['long '.repeat(2_000_000)]);
    expect(await client.open({ kind: 'blob', blob, name: 'a' }, {})).toMatchObject({
      file: { name: 'a' },
    });
    expect(texts).toHaveLength(2);
    expect(texts.join('')).toBe('long '.repeat(2_000_000));
    await client.open(FILE, {});
    expect(texts.at(-1)).toBe('x');
    expect(kinds).toEqual(['blob', 'page', 'page']);
  });

  it('says what is wrong with a file that the page cannot read either', async () => {
    const { client, workers } = setUp();
    const slice = () => ({ arrayBuffer: () => Promise.reject(new Error('Gone')) });
    const blob = Object.assign(new Blob(['x']), { slice });
    if (workers[0] !== undefined) {
      Object.assign(workers[0].session.api, {
        open: async (source: WireSource) => {
          if (source.kind !== 'page') throw new LoadError({ code: 'folder', message: 'No.' });
          const { chunks } = blobSource(pageBlob(source.port, source), source.name);
          for await (const _ of chunks()) throw new Error('It was read');
        },
      });
    }
    await expect(
      client.open({ kind: 'blob', blob: blob as unknown as Blob, name: 'a' }, {}),
    ).rejects.toMatchObject({
      failure: { code: 'folder', message: expect.stringContaining('folder') },
    });
  });

  it('keeps a worker that stops in time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { client, workers } = setUp();
    const [worker] = workers;
    const stop = new AbortController();
    let end: (info: SessionInfo) => void = () => undefined;
    const begun = new Promise<void>((begin) => {
      if (worker === undefined) return;
      const open = () => {
        begin();
        return new Promise<SessionInfo>((resolve) => {
          end = resolve;
        });
      };
      Object.assign(worker.session.api, { open });
    });
    const cancelled = client.open(FILE, {}, { signal: stop.signal });
    await begun;
    stop.abort();
    await expect(cancelled).rejects.toSatisfy(isAbortError);
    end(sessionInfoOf('x'));
    // Whatever it still says has arrived by then: a question's answer comes behind it.
    expect(await client.eventAt({ deviceIndex: 0, timeUs: 1 })).toBe(5);
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect([workers.length, worker?.isTerminated]).toEqual([1, false]);
  });

  it('ends with its worker', async () => {
    const { client, workers } = setUp();
    client.close();
    expect(workers[0]?.isTerminated).toBe(true);
    await expect(client.frame(FRAME)).rejects.toMatchObject({ failure: { code: 'closed' } });
  });
});

describe('idleness', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('comes when all work has ended and none follows at once', async () => {
    const idle = createIdleCounter();
    const first = idle.begin();
    let isIdle = false;
    const waiting = idle.whenIdle().then(() => {
      isIdle = true;
    });
    first();
    const second = idle.begin();
    first();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([isIdle, idle.running]).toEqual([false, 1]);
    second();
    await vi.advanceTimersByTimeAsync(1000);
    await waiting;
    expect(isIdle).toBe(true);
  });

  it('comes at once when nothing runs, and again after work that failed', async () => {
    const idle = createIdleCounter();
    const comes = async () => {
      const waiting = idle.whenIdle();
      await vi.advanceTimersByTimeAsync(1000);
      await waiting;
    };
    await comes();
    await expect(idle.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await comes();
  });
});

describe('marks', () => {
  it('hold the first time of each, for the latest file', () => {
    let nowMs = 10;
    const marks = createMarks(() => nowMs);
    marks.reach('painted');
    expect(marks.times()).toEqual({});
    marks.start();
    nowMs = 15;
    marks.reach('painted');
    nowMs = 99;
    marks.reach('painted');
    expect(marks.times()).toEqual({ painted: 5 });
    marks.start();
    expect(marks.times()).toEqual({});
  });
});
