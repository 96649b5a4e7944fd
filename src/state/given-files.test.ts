import { describe, expect, it } from 'vitest';
import { type GivenFiles, type GivenRoutes, routeGivenFiles } from './given-files.ts';

const files = (...names: string[]) => names.map((name) => new File([], name));
const folder = { isDirectory: true, name: 'ranks' } as FileSystemEntry;

/** The route taken, with the names that it was given. */
function taken(given: GivenFiles, without: readonly (keyof GivenRoutes)[] = []): string[] {
  const log: string[] = [];
  const all: Required<GivenRoutes> = {
    open: (source) => log.push('open', nameOf(source)),
    compare: (a, b) => log.push('compare', nameOf(a), nameOf(b)),
    ranks: (many) => log.push('ranks', ...many.files.map(({ name }) => name)),
  };
  const { open, ...rest } = all;
  const routes = Object.entries(rest).filter(([name]) => !without.some((one) => one === name));
  routeGivenFiles(given, { open, ...Object.fromEntries(routes) });
  return log;
}

const nameOf = (source: Parameters<GivenRoutes['open']>[0]) =>
  source.kind === 'blob' ? source.name : source.url;

describe('files that were given', () => {
  it('nothing is done with nothing', () => {
    expect(taken({ files: [], folders: [] })).toEqual([]);
  });

  it('one is opened', () => {
    expect(taken({ files: files('a'), folders: [] })).toEqual(['open', 'a']);
  });

  it('two are compared in their order', () => {
    expect(taken({ files: files('b', 'a'), folders: [] })).toEqual(['compare', 'b', 'a']);
  });

  it('three are ranks, and so is a folder', () => {
    expect(taken({ files: files('a', 'b', 'c'), folders: [] })).toEqual(['ranks', 'a', 'b', 'c']);
    expect(taken({ files: files('ranks'), folders: [folder] })).toEqual(['ranks', 'ranks']);
  });

  it('summaries are ranks, however few', () => {
    expect(taken({ files: files('rank0.vramscope.json'), folders: [] })).toEqual([
      'ranks',
      'rank0.vramscope.json',
    ]);
    const two = files('rank0.vramscope.json.gz', 'rank1.pickle');
    expect(taken({ files: two, folders: [] })[0]).toBe('ranks');
  });

  it('the first is opened where there is no route for several', () => {
    const several = { files: files('a', 'b'), folders: [] };
    expect(taken(several, ['compare'])).toEqual(['open', 'a']);
    const many = { files: files('a', 'b', 'c'), folders: [] };
    expect(taken(many, ['ranks'])).toEqual(['open', 'a']);
    expect(taken({ files: files('ranks'), folders: [folder] }, ['ranks'])).toEqual([
      'open',
      'ranks',
    ]);
  });
});
