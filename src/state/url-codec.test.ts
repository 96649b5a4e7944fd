import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeView, linkMismatch, parseUrl, URL_VERSION } from './url-codec.ts';
import {
  DEFAULT_VIEW,
  type FlameView,
  type Range,
  VIEW_NAMES,
  type ViewState,
} from './view-store.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const range: fc.Arbitrary<Range> = fc
  .tuple(number, number)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const label = fc
  .tuple(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat())
  .map(([address, count]) => `b${address.toString(16)}_${count}`);
const text = fc.string({ unit: 'grapheme' });
const flame: fc.Arbitrary<FlameView> = fc.record({
  dataset: fc.constantFrom('cursor', 'peak', 'end', 'window', 'difference'),
  weight: fc.constantFrom('bytes', 'allocated', 'count', 'lifetime'),
  groupBy: fc.constantFrom('class', 'line', 'stack', 'function', 'file', 'module'),
  frames: fc.constantFrom('own', 'known', 'all'),
  inverted: fc.boolean(),
  root: fc.option(text, { nil: undefined }),
  transforms: fc
    .array(fc.stringMatching(/^[fustmcd][lfim]-[0-9a-z.]{1,30}$/), { maxLength: 5 })
    .map((list) => list.join(',')),
  sandwich: fc.option(fc.stringMatching(/^[lfim]-[0-9a-z]{1,7}$/), { nil: undefined }),
});
const view: fc.Arbitrary<ViewState> = fc.record({
  view: fc.constantFrom(...VIEW_NAMES),
  deviceIndex: fc.nat(),
  axis: fc.constantFrom('event' as const, 'time' as const),
  x: fc.oneof(fc.constant('all' as const), range),
  y: fc.oneof(fc.constant('fit' as const), range),
  selection: fc.option(label, { nil: undefined }),
  foldsGaps: fc.boolean(),
  siteColors: fc.constant(''),
  stackOrder: fc.constantFrom('time', 'class'),
  colorBy: fc.constantFrom('stack' as const, 'size' as const, 'category' as const),
  lines: fc.subarray([
    'requestedBytes' as const,
    'allocatedBytes' as const,
    'activeBytes' as const,
    'reservedBytes' as const,
    'inactiveSplitBytes' as const,
  ]),
  cursor: fc.option(fc.nat(), { nil: undefined }),
  secondCursor: fc.option(fc.nat(), { nil: undefined }),
  search: text.map((one) => one.trimEnd()),
  onlyMatches: fc.boolean(),
  finding: fc.option(text, { nil: undefined }),
  addresses: fc.oneof(fc.constant('fit' as const), range),
  flame,
  sort: fc.option(
    fc.record({ key: fc.stringMatching(/^[a-zA-Z]{1,40}$/), descending: fc.boolean() }),
    { nil: undefined },
  ),
  setting: fc.option(text, { nil: undefined }),
  limit: fc.option(fc.oneof(fc.constant('none' as const), fc.integer({ min: 1 })), {
    nil: undefined,
  }),
  comparison: fc.option(fc.string({ minLength: 0 }), { nil: undefined }),
});
const file = fc.record({ name: fc.string({ unit: 'grapheme' }), bytes: fc.nat() });

describe('a view in a URL', () => {
  it('comes back as it was, with the file it was made for', () => {
    fc.assert(
      fc.property(view, file, (before, madeFor) => {
        const hash = encodeView(before, madeFor);
        const { view: after, madeFor: read, problems } = parseUrl(hash);
        expect(after).toEqual(before);
        expect(problems).toEqual([]);
        if (hash !== '') expect(read).toEqual(madeFor);
      }),
    );
  });

  it('stays as it is in a real URL', () => {
    fc.assert(
      fc.property(view, file, (before, madeFor) => {
        const hash = encodeView(before, madeFor);
        const url = new URL('https://host/app/?snapshot=a.pickle');
        url.hash = hash;
        expect(url.hash).toBe(hash === '' ? '' : `#${hash}`);
      }),
    );
  });

  it('is short and readable', () => {
    const zoomed: ViewState = {
      ...DEFAULT_VIEW,
      axis: 'time',
      x: { from: 1200, to: 98000.5 },
      selection: 'b7f064c000000_0',
    };
    expect(encodeView(zoomed, { name: 'my oom.pickle', bytes: 1041075 })).toBe(
      'v=1&axis=time&x=1200..98000.5&select=b7f064c000000_0&of=1041075:my+oom.pickle',
    );
    expect(encodeView(DEFAULT_VIEW, { name: 'x', bytes: 1 })).toBe('');
  });

  it('never throws, whatever the URL', () => {
    const key = fc.constantFrom(
      'v',
      'device',
      'axis',
      'x',
      'y',
      'select',
      'color',
      'lines',
      'transforms',
      'sandwich',
      'at',
      'of',
    );
    const pair = fc.tuple(key, fc.string({ unit: 'binary' })).map(([k, v]) => `${k}=${v}`);
    const hash = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pair).map((pairs) => `#v=1&${pairs.join('&')}`),
    );
    fc.assert(
      fc.property(hash, (text) => {
        const parsed = parseUrl(text);
        // What was read is a valid view: it can be written and read again.
        expect(parseUrl(encodeView(parsed.view)).view).toEqual(parsed.view);
      }),
    );
  });
});

describe('a link of an older version', () => {
  it.each([
    ['addresses', 'address-map'],
    ['state', 'allocator-state'],
    ['flame', 'flame-graph'],
    ['summary', 'memory-summary'],
    ['whatif', 'what-if'],
  ])('opens what it called %s', (old, name) => {
    const { view: read, problems } = parseUrl(`#v=1&view=${old}`);
    expect(read.view).toBe(name);
    expect(problems).toEqual([]);
    expect(encodeView(read)).toBe(`v=1&view=${name}`);
  });
});

describe('a URL that cannot be read', () => {
  it('says that it is too new, and shows the default view', () => {
    const parsed = parseUrl(`#v=${URL_VERSION + 1}&device=3`);
    expect(parsed).toMatchObject({ view: DEFAULT_VIEW });
    expect(parsed.problems).toEqual([expect.stringContaining('newer')]);
  });

  it('says that its version is invalid', () => {
    expect(parseUrl('#v=one&device=3')).toMatchObject({
      view: DEFAULT_VIEW,
      problems: ['The view in this link is not valid.'],
    });
  });

  it.each([
    ['x=5..5', 'x'],
    ['x=9..5', 'x'],
    ['x=1..', 'x'],
    ['x=..2', 'x'],
    ['x=0..Infinity', 'x'],
    ['y=a..b', 'y'],
    ['device=-1', 'device'],
    ['device=1.5', 'device'],
    ['axis=steps', 'axis'],
    ['select=17', 'select'],
    ['select=b7f0640_', 'select'],
    ['color=id', 'color'],
    ['lines=activeBytes,constructor', 'lines'],
    ['at=__proto__', 'at'],
    ['view=constructor', 'view'],
    ['transforms=mf-1,', 'transforms'],
    ['sandwich=f', 'sandwich'],
  ])('names what it ignores of %s and keeps the rest', (text, key) => {
    const { view: read, problems } = parseUrl(`#v=1&${text}&cursor=1`);
    expect(read).toEqual(DEFAULT_VIEW);
    expect(problems).toEqual([expect.stringContaining(key)]);
    const { view: rest } = parseUrl(
      `#v=1&${text}`.replace(/$/, key === 'device' ? '&axis=time' : '&device=2'),
    );
    expect(rest).toEqual({
      ...DEFAULT_VIEW,
      ...(key === 'device' ? { axis: 'time' } : { deviceIndex: 2 }),
    });
  });

  it('is not a problem if it says nothing about the view', () => {
    for (const hash of ['', '#', '#section', '#x=1..2']) {
      expect(parseUrl(hash)).toMatchObject({ view: DEFAULT_VIEW, problems: [] });
    }
  });
});

describe('a link made for another snapshot', () => {
  const open = { name: 'b.pickle', bytes: 20 };
  it('is recognized by its length, so that a renamed copy passes', () => {
    expect(linkMismatch({ name: 'a.pickle', bytes: 20 }, open)).toBeUndefined();
    expect(linkMismatch(undefined, open)).toBeUndefined();
    expect(linkMismatch({ name: 'a.pickle', bytes: 21 }, open)).toContain('a.pickle (21 bytes)');
  });
});
