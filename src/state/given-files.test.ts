import { describe, expect, it } from 'vitest';
import { type GivenFiles, type GivenRoutes, routeGivenFiles } from './given-files.ts';

const files = (...names: string[]) => names.map((name) => new File([], name));
const folder = { isDirectory: true, name: 'ranks' } as FileSystemEntry;

/** The chosen route and the file names it received. */
function taken(given: GivenFiles, isOpen = false): string[] {
  const log: string[] = [];
  const namesOf = (many: GivenFiles) => many.files.map(({ name }) => name);
  routeGivenFiles(given, {
    open: (source) => log.push('open', nameOf(source)),
    compare: (a, b) => log.push('compare', nameOf(a), nameOf(b)),
    ranks: (many) => log.push('ranks', ...namesOf(many)),
    ask: isOpen ? (many) => log.push('ask', ...namesOf(many)) : undefined,
  });
  return log;
}

const nameOf = (source: Parameters<GivenRoutes['open']>[0]) =>
  source.kind === 'url'
    ? source.url
    : [source.name, ...Object.values(source.beside ?? {}).map((file) => (file as File).name)].join(
        ' with ',
      );

describe('given files', () => {
  it('nothing happens without files', () => {
    expect(taken({ files: [], folders: [] }, true)).toEqual([]);
  });

  it('one is opened', () => {
    expect(taken({ files: files('a'), folders: [] })).toEqual(['open', 'a']);
  });

  it('two are compared in the given order', () => {
    expect(taken({ files: files('b', 'a'), folders: [] })).toEqual(['compare', 'b', 'a']);
  });

  it.each([[['a']], [['b', 'a']]])('%j on an open one: the page asks', (names) => {
    expect(taken({ files: files(...names), folders: [] }, true)).toEqual(['ask', ...names]);
  });

  it('a button’s request is carried out without asking', () => {
    const chosen = { folders: [], isChosen: true } as const;
    expect(taken({ ...chosen, files: files('a') }, true)).toEqual(['open', 'a']);
    expect(taken({ ...chosen, files: files('a', 'b') }, true)).toEqual(['compare', 'a', 'b']);
  });

  it.each([false, true])('three are ranks, and so is a folder (a file is open: %s)', (isOpen) => {
    const three = { files: files('a', 'b', 'c'), folders: [] };
    expect(taken(three, isOpen)).toEqual(['ranks', 'a', 'b', 'c']);
    const one = { files: files('ranks'), folders: [folder] };
    expect(taken(one, isOpen)).toEqual(['ranks', 'ranks']);
  });

  it('names of variables belong to their snapshot, and do not count as a file', () => {
    const given = { files: files('run.holders.json', 'run.pickle.gz'), folders: [] };
    expect(taken(given)).toEqual(['open', 'run.pickle.gz with run.holders.json']);
    const renamed = { files: files('run.pickle', 'old.holders.json'), folders: [] };
    expect(taken(renamed)).toEqual(['open', 'run.pickle with old.holders.json']);
    const pair = files('a.pickle', 'b.pickle', 'b.holders.json');
    const both = ['compare', 'a.pickle', 'b.pickle with b.holders.json'];
    expect(taken({ files: pair, folders: [] })).toEqual(both);
    const three = files('run.ledger.json', 'run.pickle', 'run.holders.json', 'old.ledger.json');
    expect(taken({ files: three, folders: [] })).toEqual([
      'open',
      'run.pickle with run.ledger.json with run.holders.json',
    ]);
    const ranks = files('r0.ledger.json', 'r0.pickle', 'r1.pickle', 'r2.pickle');
    expect(taken({ files: ranks, folders: [] })).toEqual([
      'ranks',
      'r0.pickle',
      'r1.pickle',
      'r2.pickle',
    ]);
    expect(taken({ files: files('run.holders.json'), folders: [] })).toEqual([
      'open',
      'run.holders.json',
    ]);
  });

  it('summaries are ranks, however few', () => {
    const one = { files: files('rank0.vramscope.json'), folders: [] };
    expect(taken(one, true)).toEqual(['ranks', 'rank0.vramscope.json']);
    const two = files('rank0.vramscope.json.gz', 'rank1.pickle');
    expect(taken({ files: two, folders: [] })[0]).toBe('ranks');
  });
});
