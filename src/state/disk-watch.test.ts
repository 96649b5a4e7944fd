import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DiskHandle, isSamePlace, readHandle } from './disk-files.ts';
import { isWatchable, readAgain, versionNow, versionOf, watchDisk } from './disk-watch.ts';
import { fileSource } from './given-files.ts';

/** A file that its program writes again and again. */
function fileOnDisk(name = 'snapshot.pickle') {
  let text: string | undefined = 'first';
  let lastModified = 1;
  const handle = {
    kind: 'file',
    name,
    async getFile() {
      if (text === undefined) throw new DOMException('It is gone.', 'NotFoundError');
      return new File([text], name, { lastModified });
    },
  } as DiskHandle;
  const write = (next: string | undefined) => {
    text = next;
    lastModified++;
  };
  return { handle, write };
}

describe('a file with a handle', () => {
  it('has another version once it is written, and can be read again with what belongs to it', async () => {
    const [disk, holders, ledger] = [fileOnDisk(), fileOnDisk('h.json'), fileOnDisk('l.json')];
    const beside = {
      holders: await readHandle(holders.handle),
      ledger: await readHandle(ledger.handle),
    };
    const source = fileSource(await readHandle(disk.handle), beside);
    expect(isWatchable(source)).toBe(true);
    expect(await versionNow(source)).toBe(await versionOf(source));
    disk.write('second');
    holders.write('new names');
    ledger.write(undefined);
    expect(await versionNow(source)).not.toBe(await versionOf(source));
    const next = await readAgain(source);
    if (next.kind !== 'blob') throw new Error('It is a file');
    expect(await next.blob.text()).toBe('second');
    expect(await next.beside?.holders?.text()).toBe('new names');
    expect(next.beside?.ledger).toBeUndefined();
    expect(isSamePlace(source, next)).toBe(true);
    disk.write(undefined);
    await expect(versionNow(source)).rejects.toThrow('gone');
    await expect(readAgain(source)).rejects.toThrow('gone');
  });

  it('is not taken for another; without a handle, nothing can be looked at', async () => {
    const [a, b] = [fileOnDisk(), fileOnDisk()];
    const [first, second] = [await readHandle(a.handle), await readHandle(b.handle)].map((file) =>
      fileSource(file),
    );
    const plain = fileSource(new File(['x'], 'snapshot.pickle'));
    if (first === undefined || second === undefined) throw new Error('There are two');
    expect(isSamePlace(first, second)).toBe(false);
    expect(isSamePlace(plain, fileSource(new File(['x'], 'snapshot.pickle')))).toBe(false);
    expect(isSamePlace(plain, { ...plain })).toBe(true);
    expect(isWatchable(plain)).toBe(false);
    expect(await versionNow(plain)).toBeUndefined();
  });
});

describe('the server on this machine', () => {
  const url = { kind: 'url', url: 'files/0/a.pickle' } as const;
  let asked: string[];

  function from(page: string, headers: Record<string, string>, status = 200) {
    asked = [];
    vi.stubGlobal('document', { baseURI: page });
    vi.stubGlobal('window', { location: { origin: new URL(page).origin } });
    vi.stubGlobal('fetch', async (at: URL, { method }: RequestInit) => {
      asked.push(`${method} ${at}`);
      return new Response(undefined, { status, headers });
    });
  }
  afterEach(() => vi.unstubAllGlobals());

  it('is asked for the head alone', async () => {
    from('http://127.0.0.1:7878/5f0c/', { etag: '"10-2"' });
    expect(await versionOf(url)).toBe('"10-2"');
    expect(asked).toEqual(['HEAD http://127.0.0.1:7878/5f0c/files/0/a.pickle']);
    from('http://localhost:9000/', {});
    expect(await versionOf(url)).toBeUndefined();
    from('http://localhost:9000/', { etag: '"1-1"' }, 404);
    expect(await versionOf(url)).toBeUndefined();
  });

  it.each([
    ['a public page', 'https://host.org/app/', url],
    ['another server', 'http://127.0.0.1:7878/', { kind: 'url', url: 'http://localhost:1/a' }],
  ] as const)('no other server is: %s', async (_, page, source) => {
    from(page, { etag: '"1-1"' });
    expect(await versionOf(source)).toBeUndefined();
    expect(asked).toEqual([]);
  });
});

describe('watching', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function setup() {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' }) as Document;
    const state = { version: 'a' as string | undefined, looks: 0, found: [] as string[], page };
    const look = async () => {
      state.looks++;
      if (state.version === undefined) throw new Error('It is gone');
      return state.version;
    };
    const onVersion = (version: string) => state.found.push(version);
    const stop = watchDisk({ opened: 'a', look, page, onVersion });
    const show = async (visibilityState: DocumentVisibilityState) => {
      Object.assign(page, { visibilityState });
      page.dispatchEvent(new Event('visibilitychange'));
      await vi.advanceTimersByTimeAsync(0);
    };
    return { state, stop, show };
  }

  it('reports a version once it rests: a file that is being written differs at each look', async () => {
    const { state, stop } = setup();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.found).toEqual(['a', 'a']);
    for (const version of ['b', 'c', 'd']) {
      state.version = version;
      await vi.advanceTimersByTimeAsync(state.looks === 2 ? 2000 : 1000);
    }
    expect(state.found).toEqual(['a', 'a']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(state.found.at(-1)).toBe('d');
    stop();
    const { looks } = state;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.looks).toBe(looks);
  });

  it('looks only while the page is visible, and at once when it is again', async () => {
    const { state, show, stop } = setup();
    await show('hidden');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(state.looks).toBe(0);
    await show('visible');
    expect(state.looks).toBe(1);
    await vi.advanceTimersByTimeAsync(4000);
    expect(state.looks).toBe(2);
    stop();
  });

  it('waits longer while the file is gone, and says nothing', async () => {
    const { state, stop } = setup();
    state.version = undefined;
    await vi.advanceTimersByTimeAsync(4000 + 14_000);
    expect([state.looks, state.found]).toEqual([1, []]);
    state.version = 'b';
    await vi.advanceTimersByTimeAsync(3000);
    expect(state.found).toEqual(['b']);
    stop();
  });
});
