import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DiskHandle, readHandle } from './disk-files.ts';
import { fileSource } from './given-files.ts';
import {
  forgetAllFiles,
  forgetFile,
  openRecent,
  type RecentFile,
  recentFiles,
  rememberFile,
} from './recent-files.ts';

/** The used part of IndexedDB: requests that succeed a moment later. */
function fakeDatabase() {
  const files = new Map<string, RecentFile>();
  const request = <T>(result: T) => {
    const one = { result } as { result: T; onsuccess?(): void; onupgradeneeded?(): void };
    void Promise.resolve().then(() => {
      one.onupgradeneeded?.();
      one.onsuccess?.();
    });
    return one;
  };
  const store = {
    getAll: () => request([...files.values()]),
    put: (file: RecentFile) => request(files.set(file.id, file)),
    delete: (id: string) => request(files.delete(id)),
  };
  const database = {
    createObjectStore: () => store,
    transaction: () => ({ objectStore: () => store }),
    close: () => undefined,
  };
  return { open: () => request(database), deleteDatabase: () => request(files.clear()) };
}

/** Each call gives another handle, as browsers do for each drop. */
function handleTo(
  name: string,
  lastModified = 1,
  permission: PermissionState = 'granted',
): DiskHandle {
  const handle: Partial<DiskHandle> = {
    kind: 'file',
    name,
    getFile: async () => new File(['x'], name, { lastModified }),
    isSameEntry: async (other) => other.name === name,
    requestPermission: async () => permission,
  };
  return handle as DiskHandle;
}

const remember = async (handle: DiskHandle, verdict?: string, beside = {}) =>
  rememberFile(fileSource(await readHandle(handle), beside), verdict);
const listed = async () => (await recentFiles()).map(({ name, verdict }) => [name, verdict]);

let nowMs: number;

beforeEach(() => {
  nowMs = 0;
  vi.stubGlobal('indexedDB', fakeDatabase());
  vi.spyOn(Date, 'now').mockImplementation(() => ++nowMs);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('lists each file once, the last opened first, with the verdict on its content', async () => {
  await remember(handleTo('a'));
  await remember(handleTo('a'), 'No problem found.');
  await remember(handleTo('b'));
  expect(await listed()).toEqual([
    ['b', undefined],
    ['a', 'No problem found.'],
  ]);
  await remember(handleTo('a'));
  expect((await listed())[0]).toEqual(['a', 'No problem found.']);
  // Written since: nobody knows yet.
  await remember(handleTo('a', 2));
  expect((await listed())[0]).toEqual(['a', undefined]);
});

it('lists a file once even if its verdict comes at once', async () => {
  await Promise.all([remember(handleTo('a')), remember(handleTo('a'), 'Out of memory.')]);
  expect(await listed()).toEqual([['a', 'Out of memory.']]);
});

it('forgets the oldest of more than eight, one, or all', async () => {
  for (const name of 'abcdefghij') await remember(handleTo(name));
  const names = async () => (await listed()).map(([name]) => name).join('');
  expect(await names()).toBe('jihgfedc');
  await forgetFile((await recentFiles())[0]?.id ?? '');
  expect(await names()).toBe('ihgfedc');
  await forgetAllFiles();
  expect(await names()).toBe('');
});

it('leaves out what cannot be found again: no handle, or an address', async () => {
  await rememberFile(fileSource(new File(['x'], 'a')), undefined);
  await rememberFile({ kind: 'url', url: 'samples/a.pickle' }, undefined);
  expect(await listed()).toEqual([]);
});

it('opens a file with what was given beside it, and says if the browser refuses', async () => {
  const [holders, ledger] = [handleTo('a.holders.json'), handleTo('a.ledger.json', 1, 'denied')];
  const beside = { holders: await readHandle(holders), ledger: await readHandle(ledger) };
  await remember(handleTo('a.pickle'), undefined, beside);
  await remember(handleTo('b.pickle', 1, 'denied'));
  const [refused, open] = await recentFiles();
  if (open === undefined || refused === undefined) throw new Error('There are two');
  const source = await openRecent(open);
  if (source.kind !== 'blob') throw new Error('It is a file');
  expect([source.name, source.beside?.holders, source.beside?.ledger]).toEqual([
    'a.pickle',
    expect.any(File),
    undefined,
  ]);
  await expect(openRecent(refused)).rejects.toThrow('did not let the page read b.pickle');
});
