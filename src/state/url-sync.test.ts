import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceInfo, sessionInfoOf } from '../testing/device-info.ts';
import type { OpenSource } from '../worker/protocol.ts';
import { startUrlSync, type UrlWindow } from './url-sync.ts';
import { createViewStore, DEFAULT_VIEW, type ViewStore } from './view-store.ts';

const INFO = sessionInfoOf('a.pickle');

/** A history of URLs with the browser's rules: push drops later entries, Back fires popstate. */
class FakeWindow {
  entries: string[];
  at = 0;
  replaced = 0;
  /** What each entry carries. */
  states: unknown[] = [null];
  readonly #listeners = new Set<(event: { state: unknown }) => void>();

  constructor(url: string) {
    this.entries = [url];
  }
  get location(): Pick<Location, 'pathname' | 'search' | 'hash'> {
    return new URL(this.entries[this.at] ?? '', 'https://host');
  }
  readonly history = {
    state: undefined as unknown,
    pushState: (data: unknown, _title: string, url: string) => {
      this.entries = [...this.entries.slice(0, this.at + 1), url];
      this.at++;
      this.#setState(data);
    },
    replaceState: (data: unknown, _title: string, url: string) => {
      this.entries[this.at] = url;
      this.#setState(data);
      this.replaced++;
    },
  };
  #setState(data: unknown): void {
    this.states[this.at] = data;
    this.history.state = data;
  }
  addEventListener(_type: string, listener: (event: { state: unknown }) => void): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_type: string, listener: (event: { state: unknown }) => void): void {
    this.#listeners.delete(listener);
  }
  go(steps: number): void {
    this.at += steps;
    const state = this.states[this.at] ?? null;
    this.history.state = state;
    for (const listener of this.#listeners) listener({ state });
  }
}

let window: FakeWindow;
let store: ViewStore;
let sync: ReturnType<typeof startUrlSync>;
let problems: readonly string[];
/** How often the address was reported to lag, and to have caught up. */
let lags: number;
let caughtUp: number;
/** Keys of the files that the page was asked to open again; those in `openable` are opened. */
let reopened: (readonly [key: string, url: string | null])[];
let openable: ReadonlyMap<string, () => void>;
let cancelled: number;

beforeEach(() => {
  vi.useFakeTimers();
  window = new FakeWindow('/app/?snapshot=a.pickle');
  store = createViewStore();
  problems = [];
  lags = 0;
  caughtUp = 0;
  reopened = [];
  openable = new Map();
  cancelled = 0;
  sync = startUrlSync({
    store,
    window: window as unknown as UrlWindow,
    openInfo: () => INFO,
    onNotices: (found) => {
      problems = found;
    },
    beginLag: () => {
      lags++;
      return () => {
        caughtUp++;
      };
    },
    loader: {
      async reopen(key, url) {
        reopened.push([key, url]);
        openable.get(key)?.();
        return openable.has(key);
      },
      cancel: () => {
        cancelled++;
      },
    },
  });
});

afterEach(() => {
  sync.stop();
  vi.useRealTimers();
});

const view = () => store.getState().view;

describe('the address bar', () => {
  const from = () => {
    const { x } = view();
    return x === 'all' ? undefined : x.from;
  };
  const wheel = (steps: number) => {
    for (let i = 0; i < steps; i++) {
      store.move({ x: { from: (from() ?? -1) + 1, to: 1000 } });
      vi.advanceTimersByTime(16);
    }
  };

  it('reports that it lags from the second move on, until it is written', () => {
    wheel(1);
    wheel(5);
    expect([lags, caughtUp]).toEqual([1, 0]);
    vi.advanceTimersByTime(400);
    expect([lags, caughtUp]).toEqual([1, 1]);
    wheel(2);
    window.go(-1);
    expect(lags).toBe(caughtUp);
  });
  const pause = () => vi.advanceTimersByTime(1000);

  it('gets one entry for a series of wheel steps, at the first, and keeps ?snapshot=', () => {
    wheel(50);
    expect(window.entries).toHaveLength(2);
    expect(window.replaced).toBe(0);
    pause();
    expect(window.entries).toEqual([
      '/app/?snapshot=a.pickle',
      '/app/?snapshot=a.pickle#v=1&x=49..1000&of=9:a.pickle',
    ]);
    expect(window.replaced).toBe(1);
    wheel(2);
    expect(window.entries).toHaveLength(3);
  });

  it('gets one entry each for a pin, a wheel and a drag, and Back undoes one at a time', () => {
    store.commit({ selection: 'b7f_0' });
    wheel(5);
    store.beginDrag();
    wheel(5);
    // A drag that pauses is still the same drag.
    pause();
    wheel(5);
    store.endDrag();
    wheel(5);
    pause();
    expect(window.entries).toHaveLength(5);
    expect(from()).toBe(19);
    window.go(-1);
    expect(from()).toBe(14);
    window.go(-1);
    expect(from()).toBe(4);
    window.go(-1);
    expect(view()).toEqual({ ...DEFAULT_VIEW, selection: 'b7f_0' });
  });

  it('goes back before a gesture that is still going on; the next one is separate', () => {
    store.commit({ selection: 'b7f_0' });
    wheel(3);
    window.go(-1);
    expect(view()).toEqual({ ...DEFAULT_VIEW, selection: 'b7f_0' });
    wheel(3);
    pause();
    expect(window.entries).toHaveLength(3);
  });

  it('stores adjustments by the page in the entry of their cause', () => {
    store.commit({ cursor: 5 });
    store.adjust({ x: { from: 1, to: 9 } });
    pause();
    expect(window.entries).toHaveLength(2);
    expect(window.entries[1]).toContain('at=5');
    expect(window.entries[1]).toContain('x=1..9');
  });

  it('gets an entry for each commit, and Back and Forward restore their views', () => {
    store.commit({ selection: 'b7f_0' });
    store.commit({ x: { from: 1, to: 2 } });
    expect(window.entries).toHaveLength(3);
    window.go(-1);
    expect(view()).toEqual({ ...DEFAULT_VIEW, selection: 'b7f_0' });
    window.go(-1);
    expect(view()).toEqual(DEFAULT_VIEW);
    window.go(2);
    expect(view()).toEqual({ ...DEFAULT_VIEW, selection: 'b7f_0', x: { from: 1, to: 2 } });
    vi.advanceTimersByTime(1000);
    expect(window.entries).toHaveLength(3);
  });

  it('goes back to where a pan was when something was selected during it', () => {
    store.move({ x: { from: 5, to: 6 } });
    store.commit({ selection: 'b7f_0' });
    window.go(-1);
    expect(view()).toEqual({ ...DEFAULT_VIEW, x: { from: 5, to: 6 } });
  });

  it('gets no entry for a commit that changes nothing in it', () => {
    store.commit({ selection: undefined });
    expect(window.entries).toHaveLength(1);
  });

  it('says what it could not restore', () => {
    window.history.pushState(null, '', '/app/#v=1&x=2..1');
    window.go(0);
    expect(problems).toHaveLength(1);
    expect(view()).toEqual(DEFAULT_VIEW);
  });

  it('is left alone after stop', () => {
    store.move({ deviceIndex: 1 });
    store.move({ deviceIndex: 3 });
    sync.stop();
    pause();
    store.commit({ deviceIndex: 2 });
    expect(window.entries).toHaveLength(2);
    expect(window.entries[1]).toContain('device=1');
  });
});

const GIVEN: OpenSource = { kind: 'blob', blob: new Blob(['x']), name: 'a.pickle' };
const withDevices = (name: string, count: number) => ({
  ...sessionInfoOf(name),
  devices: Array.from({ length: count }, (_, index) => deviceInfo({ index, device: index })),
});

describe('the view of a link', () => {
  const HASH = '#v=1&of=9:a.pickle&device=1&x=10..20&at=500';
  const goTo = (url: string) => window.history.replaceState(null, '', url);

  it('is restored only for the first snapshot, without what that lacks', () => {
    goTo(`/app/?snapshot=a.pickle${HASH}`);
    sync.take(withDevices('a.pickle', 2), { kind: 'url', url: 'a.pickle' }, 'a');
    expect(view()).toMatchObject({ deviceIndex: 1, x: { from: 10, to: 20 }, cursor: undefined });
    expect(problems).toEqual([expect.stringContaining('points to event 500')]);
    sync.take(withDevices('b.pickle', 2), GIVEN, 'b');
    expect(view()).toMatchObject({ deviceIndex: 0, x: 'all' });
    expect(problems).toEqual([]);
  });

  it('falls back to the first device, whole, when there is no such device', () => {
    goTo(`/app/${HASH}`);
    sync.take(withDevices('a.pickle', 1), GIVEN, 'a');
    expect(view()).toMatchObject({ deviceIndex: 0, x: 'all' });
  });

  it('comes with a notice if it was made for another file', () => {
    goTo('/app/#v=1&of=77:other.pickle&x=1..2');
    sync.take(withDevices('a.pickle', 1), GIVEN, 'a');
    expect(problems).toEqual([expect.stringContaining('other.pickle')]);
  });

  it('is fitted, with a notice, where Back leads to a view of a file that was replaced', () => {
    goTo('/app/#v=1&of=77:other.pickle&device=1&x=1..2');
    window.history.pushState(null, '', '/app/');
    window.go(-1);
    expect(view()).toMatchObject({ deviceIndex: 0, x: 'all' });
    expect(problems).toEqual([expect.stringContaining('other.pickle')]);
  });

  it('names the file in the address, and keeps the page that frames this one', () => {
    goTo('/app/?snapshot=old.pickle&embedder=https%3A%2F%2Fdash.example.org#x');
    sync.take(withDevices('a.pickle', 1), { kind: 'url', url: 'samples/a b.pickle' }, 'a');
    const embedder = 'embedder=https%3A%2F%2Fdash.example.org';
    expect(window.entries).toEqual([`/app/?snapshot=samples/a%20b.pickle&${embedder}#x`]);
    sync.take(withDevices('a.pickle', 1), GIVEN, 'a');
    expect(window.entries).toEqual([`/app/?${embedder}#x`]);
  });
});

describe('a file that replaced another', () => {
  const take = (key: string) => sync.take(withDevices(`${key}.pickle`, 1), GIVEN, key);
  const WHOLE = { selection: undefined, x: 'all' };
  const settle = () => vi.advanceTimersByTimeAsync(1000);

  beforeEach(async () => {
    openable = new Map(['a', 'b'].map((key) => [key, () => take(key)]));
    take('a');
    store.commit({ selection: 'b7f_0' });
    store.move({ x: { from: 1, to: 2 } });
    take('b');
    await settle();
  });

  it('has its own entry; Back opens the other as it was seen last, and Forward this one', async () => {
    expect(window.entries).toHaveLength(4);
    expect(view()).toMatchObject(WHOLE);
    store.commit({ selection: 'b7e_0' });
    window.go(-1);
    expect(reopened).toEqual([]);
    window.go(-1);
    await settle();
    expect(reopened).toEqual([['a', null]]);
    expect(view()).toMatchObject({ selection: 'b7f_0', x: { from: 1, to: 2 } });
    window.go(-1);
    expect(view()).toMatchObject({ ...WHOLE, selection: 'b7f_0' });
    window.go(3);
    await settle();
    expect(reopened).toEqual([
      ['a', null],
      ['b', null],
    ]);
    expect(view()).toMatchObject({ selection: 'b7e_0' });
    expect(window.entries).toHaveLength(5);
  });

  it('stays where the other cannot be opened: the entry becomes one of its own', async () => {
    openable = new Map([['a', () => undefined]]);
    window.go(-1);
    await settle();
    expect(view()).toMatchObject(WHOLE);
    expect(window.states[window.at]).toMatchObject({ key: 'b' });
    expect(problems).toEqual([]);
  });

  it('says so if the other was opened before the page was reloaded', async () => {
    openable = new Map();
    window.go(-1);
    await settle();
    expect(problems).toEqual([
      'a.pickle was opened before this page was reloaded. To see it, open it again.',
    ]);
  });

  it('comes again at once if Forward is pressed before the other is open', async () => {
    openable = new Map([['a', () => window.go(1)]]);
    window.go(-1);
    await settle();
    expect(cancelled).toBe(1);
    expect(view()).toMatchObject(WHOLE);
    expect(window.at).toBe(3);
  });
});
