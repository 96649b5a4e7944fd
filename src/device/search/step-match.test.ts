import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { allocationDetails } from '../model/allocation-details.ts';
import { matchAllocations, positionBefore, stepMatch } from './match-search.ts';
import { searchTerm } from './qualifier.ts';
import { knownValues } from './qualifiers.ts';

const [context] = contextsOf(loadCapture('train_ring_truncated.pickle.gz'));
const { length, start } = context.replay.allocations;

test('steps go to the nearest match on that side, and wrap around', () => {
  const ids = fc.uniqueArray(fc.nat(length - 1), { minLength: 1, maxLength: 8 });
  const from = fc.oneof(fc.nat(length - 1), fc.constantFrom(-1, -0.5, length - 0.5));
  fc.assert(
    fc.property(ids, from, fc.boolean(), (matches, place, isBackwards) => {
      const mask = new Uint8Array(length);
      for (const id of matches) mask[id] = 1;
      const sorted = matches.toSorted((a, b) => a - b);
      const expected = isBackwards
        ? (sorted.findLast((id) => id < place) ?? sorted.at(-1))
        : (sorted.find((id) => id > place) ?? sorted[0]);
      const step = stepMatch(context, mask, place, isBackwards);
      expect(step?.allocation).toBe(expected);
      expect(step?.position).toBe(sorted.indexOf(step?.allocation ?? -1) + 1);
    }),
  );
});

test('a step says the same as the details', () => {
  const step = stepMatch(context, undefined, 99, false);
  const { label, startEvent, endEvent, startUs, endUs } = allocationDetails(context, 100);
  expect(step).toEqual({
    allocation: 100,
    position: 101,
    label,
    startEvent,
    endEvent,
    startUs,
    endUs,
  });
  expect(stepMatch(context, new Uint8Array(length), 3, false)).toBeUndefined();
});

test('a walk begins with what starts in the window', () => {
  for (const event of [-1, 0, 100, 5000, 1e9]) {
    const first = Math.ceil(positionBefore(context, event));
    expect(first === length || start[first] >= event).toBe(true);
    expect(first === 0 || start[first - 1] < event).toBe(true);
  }
});

test.each(['train_annotated', 'streams_record_stream', 'cuda_graph_pool', 'compile_train'])(
  'the suggestions for %s match something',
  (name) => {
    const [own] = contextsOf(loadCapture(`${name}.pickle.gz`));
    const { phase = [], category = [], compile = [], stream = [], pool = [] } = knownValues(own);
    const known = Object.entries({ phase, category, compile, stream, pool });
    const terms = known.flatMap(([kind, values]) => values.map((value) => searchTerm(kind, value)));
    expect(new Set(terms).size).toBe(terms.length);
    const counts = terms.map((term) => matchAllocations(own, term, undefined).count);
    // A phase may allocate nothing. An allocation is found by everything it carries.
    const carried = counts.slice(phase.length);
    expect(carried.every((count) => count > 0)).toBe(true);
    if (phase.length > 0) expect(Math.max(...counts)).toBeGreaterThan(0);
  },
);
