import { describe, expect, it } from 'vitest';
import { LoadError } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { deviceInfo } from '../testing/device-info.ts';
import type { CallOptions, OpenOptions, OpenProgress, OpenSource } from '../worker/protocol.ts';
import { createIdleCounter } from './page-timings.ts';
import { createSessionStore } from './session-store.ts';
import { createSnapshotLoader, nameOf } from './snapshot-loader.ts';
import { parseUrl } from './url-codec.ts';
import { createViewStore } from './view-store.ts';

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
  resolve(info: SessionInfo): void;
  reject(error: unknown): void;
}

function setup(hash = '', prepare = () => Promise.resolve()) {
  const calls: Call[] = [];
  const notices: (readonly string[])[] = [];
  const sources: (string | undefined)[] = [];
  const idle = createIdleCounter();
  const stores = { session: createSessionStore(), view: createViewStore() };
  const open = (_: OpenSource, options: OpenOptions, call: CallOptions<OpenProgress> = {}) =>
    new Promise<SessionInfo>((resolve, reject) => {
      call.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
      calls.push({ options, resolve, reject });
    });
  const loader = createSnapshotLoader({
    client: { open },
    idle,
    prepare,
    stores,
    readUrl: () => parseUrl('', hash),
    showSource: (url) => sources.push(url),
    onNotices: (sentences) => notices.push(sentences),
  });
  return { loader, calls, stores, notices, sources, idle };
}

const blob = (name: string): OpenSource => ({ kind: 'blob', blob: new Blob(['x']), name });

describe('opening', () => {
  it('keeps the snapshot that is open when the next one fails', async () => {
    const { loader, calls, stores } = setup();
    const first = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await first;
    const second = loader.open(blob('b.png'));
    calls[1]?.reject(new LoadError({ code: 'png', message: 'This is a PNG image.' }));
    await second;
    const state = stores.session.getState();
    expect(state).toMatchObject({ phase: 'failed', failure: { code: 'png' } });
    expect(state).toMatchObject({ previous: { file: { name: 'a.pickle' } } });
  });

  it('lets the newest win, however the openings end', async () => {
    const { loader, calls, stores } = setup();
    const first = loader.open(blob('slow.pickle'));
    const second = loader.open(blob('quick.pickle'));
    calls[1]?.resolve(snapshot('quick.pickle'));
    await Promise.all([first, second]);
    expect(stores.session.getState()).toMatchObject({
      phase: 'ready',
      info: { file: { name: 'quick.pickle' } },
    });
  });

  it('goes back to the start when cancelled', async () => {
    const { loader, stores } = setup();
    const opening = loader.open(blob('a.pickle'));
    loader.cancel();
    await opening;
    expect(stores.session.getState()).toEqual({ phase: 'idle' });
  });

  it('opens the part before a fault on request', async () => {
    const { loader, calls } = setup();
    const opening = loader.open(blob('cut.pickle'));
    calls[0]?.reject(new LoadError({ code: 'truncated', message: 'Cut.', partialEvents: 7 }));
    await opening;
    void loader.openPartially();
    expect(calls[1]?.options).toEqual({ allowPartial: true });
  });

  it("says that it was vramscope's fault when it was", async () => {
    const { loader, calls, stores } = setup();
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.reject(new TypeError('x is not a function'));
    await opening;
    expect(stores.session.getState()).toMatchObject({ failure: { code: 'unexpected' } });
  });
});

describe('the views', () => {
  it('are awaited, and reported when they cannot be loaded', async () => {
    const { loader, calls, stores } = setup('', () => Promise.reject(new TypeError('offline')));
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await opening;
    expect(stores.session.getState()).toMatchObject({ failure: { code: 'views-unreachable' } });
  });
});

describe('idleness', () => {
  it('begins when the snapshot is on the page, not when it was read', async () => {
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

describe('the view of a link', () => {
  const hash = '#v=1&of=1000:a.pickle&device=1&x=10..20&at=500';

  it('is restored for the first snapshot only, without what it has not', async () => {
    const { loader, calls, stores, notices } = setup(hash);
    const first = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle', 2));
    await first;
    const { view } = stores.view.getState();
    expect(view).toMatchObject({ deviceIndex: 1, x: { from: 10, to: 20 }, cursor: undefined });
    const second = loader.open(blob('b.pickle'));
    calls[1]?.resolve(snapshot('b.pickle', 2));
    await second;
    expect(stores.view.getState().view).toMatchObject({ deviceIndex: 0, x: 'all' });
    expect(notices).toEqual([[expect.stringContaining('points to event 500')], []]);
  });

  it('falls back to the first device, whole, when there is no such device', async () => {
    const { loader, calls, stores } = setup(hash);
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle', 1));
    await opening;
    expect(stores.view.getState().view).toMatchObject({ deviceIndex: 0, x: 'all' });
  });

  it('comes with a word when it was made for another file', async () => {
    const { loader, calls, notices } = setup('#v=1&of=77:other.pickle&x=1..2');
    const opening = loader.open(blob('a.pickle'));
    calls[0]?.resolve(snapshot('a.pickle'));
    await opening;
    expect(notices[0]?.[0]).toContain('other.pickle');
  });
});

describe('names', () => {
  it('takes the last part of a URL', () => {
    expect(nameOf({ kind: 'url', url: 'https://x.org/a/b.pickle?sig=1/2#f' })).toBe('b.pickle');
    expect(nameOf({ kind: 'url', url: 'https://x.org/' })).toBe('https://x.org/');
  });
});
