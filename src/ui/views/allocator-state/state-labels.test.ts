import { describe, expect, it } from 'vitest';
import { NOTHING_RELEASED } from '../../../allocator/state/empty-cache.ts';
import { SegmentKind } from '../../../allocator/state/types.ts';
import type { SegmentGroup, SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import { parseSearch } from '../../../device/search/parse-search.ts';
import { deviceInfo } from '../../../testing/device-info.ts';
import {
  groupName,
  groupTerms,
  keptSentences,
  oomSentence,
  releaseSentence,
  roundingText,
  usedText,
} from './state-labels.ts';

const GI = 2 ** 30;
const totals: SpaceTotals = {
  segments: 3,
  liveBlocks: 5,
  reservedBytes: 4 * GI,
  allocatedBytes: GI,
  pendingBytes: 0,
  freeBytes: 3 * GI,
  largestFreeBytes: GI,
  roundingBytes: 0,
  unknownBytes: 0,
};
const release = NOTHING_RELEASED;
const group: SegmentGroup = {
  key: '',
  kind: SegmentKind.Native,
  isSmall: false,
  privatePool: undefined,
  stream: '0',
  first: 0,
  totals,
};

describe('empty_cache()', () => {
  it('releases nothing, and says why', () => {
    expect(releaseSentence(release, { ...totals, freeBytes: 0 })).toContain('all reserved memory');
    expect(releaseSentence(release, totals)).toContain('no segment is completely free');
    expect(releaseSentence(release, { ...totals, reservedBytes: 0 })).toContain('Nothing is');
  });

  it('counts segments and pages, and says what it waits for', () => {
    const segments = { ...release, releasedBytes: GI, releasedSegments: 1 };
    expect(releaseSentence(segments, totals)).toBe(
      'empty_cache() would release 1.00 GiB: 1 whole segment.',
    );
    const pages = { ...release, releasedBytes: GI, releasedPageBytes: GI };
    expect(releaseSentence(pages, totals)).toContain('1.00 GiB: free pages of expandable');
    const both = { ...segments, releasedPageBytes: GI / 2, awaitedBytes: GI / 4 };
    expect(releaseSentence(both, totals)).toContain('1 whole segment and 512.00 MiB of free pages');
    expect(releaseSentence(both, totals)).toContain('For 256.00 MiB of it, it would first wait');
    const awaited = { ...segments, awaitedBytes: GI };
    expect(releaseSentence(awaited, totals)).toContain('For all of it, it would first wait');
  });

  it('keeps memory for three reasons, each with its bytes', () => {
    expect(keptSentences(release)).toEqual([]);
    const kept = { ...release, pinnedBytes: GI, pinnedSegments: 2, partialPageBytes: GI };
    expect(keptSentences({ ...kept, privateBytes: GI })).toHaveLength(3);
    expect(keptSentences(kept)[0]).toContain('1.00 GiB stays: it lies between live blocks in 2');
  });
});

describe('an OOM', () => {
  const overview = {
    event: 7,
    groups: [],
    totals,
    release,
    pinSites: [],
    otherPinSites: 0,
    otherPinnedBytes: 0,
  };
  const ask = (requestedBytes: number) =>
    oomSentence(
      deviceInfo({
        ooms: [{ event: 7, timeUs: 0, requestedBytes, deviceFreeBytes: 0, wasRetried: false }],
      }),
      overview,
    );

  it('is too much, fragmented, or of another pool', () => {
    expect(ask(4 * GI)).toContain('and only 3.00 GiB is free');
    expect(ask(2 * GI)).toContain('in ranges of at most 1.00 GiB, which is too small');
    expect(ask(GI)).toContain('belongs to another pool or stream');
  });

  it('appears only at its own event', () => {
    expect(oomSentence(deviceInfo(), overview)).toBeUndefined();
  });
});

describe('a group', () => {
  it.each([
    [{}, 'Large pool', 'pool:default pool:large stream:0'],
    [
      { isSmall: true, kind: SegmentKind.Expandable },
      'Small pool, expandable',
      'pool:default pool:small stream:0',
    ],
    [
      { privatePool: '(1, 0)', stream: '0x7' },
      'Private pool (1, 0), large',
      'pool:"(1, 0)" pool:large stream:0x7',
    ],
    [
      { kind: SegmentKind.None },
      'In an unknown segment, large',
      'pool:default pool:large stream:0',
    ],
  ])('%o', (change, name, terms) => {
    expect(groupName({ ...group, ...change })).toBe(name);
    expect(groupTerms({ ...group, ...change })).toBe(terms);
    expect(parseSearch(terms).problem).toBeUndefined();
  });
});

it('never rounds a little to 0%, nor almost everything to 100%', () => {
  expect([0, 1, 500, 999, 1000].map((used) => usedText(used, 1000))).toEqual([
    '0%',
    '< 1%',
    '50%',
    '> 99%',
    '100%',
  ]);
  expect(usedText(5, 0)).toBe('');
});

it('says for which bytes the rounding is unknown', () => {
  expect(roundingText({ roundingBytes: 512, unknownBytes: 0 })).toBe('512 bytes');
  expect(roundingText({ roundingBytes: 512, unknownBytes: 1024 })).toContain(
    'unknown for 1.00 KiB',
  );
});
