import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CHANGE_KINDS } from '../../../analysis/compare/types.ts';
import {
  type ComparisonView,
  DEFAULT_COMPARISON,
  encodeComparison,
  GROUPINGS,
  parseComparison,
  TABS,
} from './comparison-view.ts';

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const mark = fc.record({ name: fc.string({ unit: 'grapheme' }), bytes: fc.nat() });
const view: fc.Arbitrary<ComparisonView> = fc.record({
  a: optional(mark),
  b: optional(mark),
  tab: fc.constantFrom(...TABS),
  at: fc.constantFrom('peak', 'end'),
  deviceA: optional(fc.nat(9)),
  deviceB: optional(fc.nat(9)),
  isSwapped: fc.boolean(),
  link: fc.constantFrom('step', 'share'),
  window: optional(fc.integer({ min: -1, max: 50 }).map((from) => ({ from, to: from + 1.5 }))),
  sort: fc.record({ key: fc.constantFrom('size', 'class', 'b'), descending: fc.boolean() }),
  kind: optional(fc.constantFrom(...CHANGE_KINDS)),
  class: optional(fc.constantFrom('activations', 'rounding')),
  text: fc.string(),
  groupBy: fc.constantFrom(...GROUPINGS),
  root: optional(fc.constantFrom('1a.2b')),
  transforms: fc.constantFrom('', 'mf-1x0f3k9,dm-2'),
  row: optional(fc.nat(99).map(String)),
});

it('survives a link, with its files', () => {
  fc.assert(
    fc.property(view, (before) => {
      expect(parseComparison(encodeComparison(before))).toEqual(before);
    }),
  );
});

it('omits what is at its default', () => {
  expect(encodeComparison(DEFAULT_COMPARISON)).toBe('');
});

it.each(['', 'tab=no&at=never&x=5..2&sort=;&kind=&device=-1&a=b', '%%%=&&'])(
  'opens on %j',
  (text) => {
    expect(parseComparison(text)).toEqual(DEFAULT_COMPARISON);
  },
);
