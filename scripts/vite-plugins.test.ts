import { readdirSync } from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { isOwnFile } from './vite-plugins.mjs';

afterEach(() => vi.unstubAllGlobals());

const isKept = (address: string, scope = 'https://host/tools/vramscope/') => {
  vi.stubGlobal('self', { registration: { scope } });
  return isOwnFile({ url: new URL(address, scope) });
};

it('keeps the samples that there are and the page in one file', () => {
  for (const name of readdirSync('public/samples')) expect(isKept(`samples/${name}`)).toBe(true);
  expect(isKept('vramscope.html')).toBe(true);
});

it('keeps no snapshot: of no other site, no other path, and not by a query', () => {
  for (const address of [
    'https://elsewhere/samples/a.pickle.gz',
    'https://elsewhere/tools/vramscope/samples/a.pickle.gz',
    'https://host.evil/tools/vramscope/samples/a.pickle.gz',
    '/samples/a.pickle.gz',
    'mine/samples/a.pickle.gz',
    'samples/a.pickle.gz?token=1',
    'samples/../mine.pickle.gz',
    'samples/deeper/a.pickle.gz',
    'samples/a.pickle',
    'mine.pickle.gz',
    'blob:https://host/samples/a.pickle.gz',
  ]) {
    expect([address, isKept(address)]).toEqual([address, false]);
  }
});
