import { describe, expect, it } from 'vitest';
import { LoadError } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { deviceInfo } from '../testing/device-info.ts';
import type {
  CallOptions,
  OpenOptions,
  OpenProgress,
  OpenRequest,
  OpenSource,
} from '../worker/protocol.ts';
import { createIdleCounter } from './page-timings.ts';
import { createSnapshotLoader, nameOf } from './snapshot-loader.ts';
import { createSessionStore, openInfo } from './stores.ts';
import { createViewStore, DEFAULT_VIEW } from './view-store.ts';

const snapshot = (name: string, devices = 1): SessionInfo => ({
  file: {
    name,
    bytes: 1000,
    container: 'pickle',
    protocol: 4,
    decoder: 'columnar',
    partial: undefined,
  },
  devices: Array.from({ length: devices }, (_, index) => deviceInfo({ index, device: index })),
  settings: {},
  warnings: [],
});

interface Call {
  readonly options: OpenOptions;
  readonly onProgress: CallOptions<OpenProgress>['onProgress'];
  resolve(info: SessionInfo): void;
  reject(error: unknown): void;
}

function setup(prepare = async () => (_: SessionInfo) => {}, view = createViewStore()) {
  const calls: Call[] = [];
  const idle = createIdleCounter();
  const session = createSessionStore();
  const open = ({ source: _, ...options }: OpenRequest, call: CallOptions<OpenProgress> = {}) =>
    new Promise<SessionInfo>((resolve, reject) => {
      call.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      calls.push({ options, onProgress: call.onProgress, resolve, reject });
    });
  const client = { open, expectFile: () => () => undefined };
  const loader = createSnapshotLoader({ client, idle, session, view, prepare });
  return { loader, calls, session, idle };
}

const blob = (name: string): OpenSource => ({ kind: 'blob', blob: new Blob(['x']), name });

describe('opening', () => {
  it('keeps the snapshot that is open when the next one fails', async () => {
    const { loader, calls, session } = setup();
    const first = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await first;
    const second = loader.open(blob('b.png'));
    calls[1]?.reject(new LoadError({ code: 'png', message: 'This is a PNG image.' }));
    await second;
    const state = session.getState();
    expect(state).toMatchObject({ phase: 'failed', failure: { code: 'png' } });
    expect(state).toMatchObject({ previous: { file: { name: 'a.pickle' } } });
    session.dismissFailure();
    expect(session.getState()).toMatchObject({ phase: 'ready', info: openInfo(state) });
  });

  it('leads back to the file that another replaced, as it was shown, and forth again', async () => {
    const view = createViewStore();
    const showFresh = async () => () => view.restore(DEFAULT_VIEW);
    const { loader, calls, session } = setup(showFresh, view);
    const answer = async (opening: Promise<void>, name: string) => {
      calls.at(-1)?.resolve(snapshot(name));
      await opening;
    };
    const [a, b] = [blob('a.pickle'), blob('b.pickle')];
    await answer(loader.open(a, { allowPartial: true }), 'a.pickle');
    expect(loader.replaced()).toBeUndefined();
    view.commit({ search: 'class:optimizer' });
    // One that fails replaces nothing.
    const failing = loader.open(blob('c.png'));
    calls.at(-1)?.reject(new LoadError({ code: 'png', message: 'This is a PNG image.' }));
    await failing;
    expect(loader.replaced()).toBeUndefined();
    await answer(loader.open(b), 'b.pickle');
    expect(loader.replaced()).toBe(a);
    view.commit({ view: 'events' });
    await answer(loader.goBack(), 'a.pickle');
    expect(calls.at(-1)?.options).toEqual({ allowPartial: true });
    expect(view.getState().view).toMatchObject({ view: 'timeline', search: 'class:optimizer' });
    expect(loader.replaced()).toBe(b);
    await answer(loader.goBack(), 'b.pickle');
    expect(view.getState().view).toMatchObject({ view: 'events', search: '' });
    // The same file again is not another.
    await answer(loader.open(b), 'b.pickle');
    expect(loader.replaced()).toBe(a);
    expect(openInfo(session.getState())?.file.name).toBe('b.pickle');
  });

  it('keeps the open snapshot visible until the next has been read or is cancelled', async () => {
    const { loader, calls, session } = setup();
    const first = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await first;
    const info = openInfo(session.getState());
    const second = loader.open(blob('b.pickle'));
    const progress: OpenProgress = { phase: 'reading', readBytes: 1, totalBytes: 2, events: 3 };
    calls[1]?.onProgress?.(progress);
    const loading = { phase: 'loading', name: 'b.pickle', progress, previous: info };
    expect(session.getState()).toEqual(loading);
    loader.cancel();
    await second;
    expect(session.getState()).toEqual({ phase: 'ready', info });
  });

  it('lets the newest win, however the openings end', async () => {
    const { loader, calls, session } = setup();
    const first = loader.open(blob('slow.pickle'));
    const second = loader.open(blob('quick.pickle'));
    const progress: OpenProgress = { phase: 'reading', readBytes: 1, totalBytes: 2, events: 3 };
    calls[0]?.onProgress?.(progress);
    expect(session.getState()).toMatchObject({ name: 'quick.pickle', progress: undefined });
    calls[1]?.resolve(snapshot('quick.pickle'));
    await Promise.all([first, second]);
    expect(session.getState()).toMatchObject({
      phase: 'ready',
      info: { file: { name: 'quick.pickle' } },
    });
  });

  it('goes back to the start when cancelled', async () => {
    const { loader, session } = setup();
    const opening = loader.open(blob('a.pickle'));
    loader.cancel();
    await opening;
    expect(session.getState()).toEqual({ phase: 'idle' });
  });

  it('opens the part before an error on request', async () => {
    const { loader, calls } = setup();
    const opening = loader.open(blob('cut.pickle'));
    calls[0]?.reject(new LoadError({ code: 'truncated', message: 'Cut.', partialEvents: 7 }));
    await opening;
    void loader.openPartially();
    expect(calls[1]?.options).toEqual({ allowPartial: true });
  });

  it("says that it was vramscope's fault when it was", async () => {
    const { loader, calls, session } = setup();
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.reject(new TypeError('x is not a function'));
    await opening;
    expect(session.getState()).toMatchObject({ failure: { code: 'unexpected' } });
  });
});

describe('the views', () => {
  it('are awaited, and reported when they cannot be loaded', async () => {
    const { loader, calls, session } = setup(() => Promise.reject(new TypeError('offline')));
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await opening;
    expect(session.getState()).toMatchObject({ failure: { code: 'views-unreachable' } });
  });
});

describe('idleness', () => {
  it('begins when the snapshot is shown, not when it was read', async () => {
    const { loader, calls, idle } = setup();
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await opening;
    expect(idle.running).toBe(1);
    loader.shown();
    expect(idle.running).toBe(0);
  });

  it('begins at once after a failure', async () => {
    const { loader, calls, idle } = setup();
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.reject(new LoadError({ code: 'empty', message: 'Empty.' }));
    await opening;
    expect(idle.running).toBe(0);
  });
});

describe('names', () => {
  it('takes the last part of a URL', () => {
    expect(nameOf({ kind: 'url', url: 'https://x.org/a/b.pickle?sig=1/2#f' })).toBe('b.pickle');
    expect(nameOf({ kind: 'url', url: 'https://x.org/' })).toBe('https://x.org/');
  });
});
