import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { parseSearch } from './parse-search.ts';
import { knownValues, QUALIFIER_NAMES, QUALIFIERS } from './qualifiers.ts';

test.each(QUALIFIER_NAMES.map((name) => [name, QUALIFIERS[name].examples] as const))(
  'the examples of %s are terms of it',
  (name, examples) => {
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) {
      const { terms, problem } = parseSearch(example);
      expect(problem).toBeUndefined();
      expect(terms.map(({ kind }) => kind)).toEqual([name]);
    }
  },
);

test('the values of a device are those of its events, each once', () => {
  const [context] = contextsOf(loadCapture('cuda_graph_pool.pickle.gz'));
  const { stream = [], pool = [], size } = knownValues(context);
  expect(stream).toHaveLength(context.trace.streams.length);
  expect(new Set(stream).size).toBe(stream.length);
  expect(pool.every((id) => /^\(\d+, \d+\)$/.test(id))).toBe(true);
  expect(pool.length).toBeGreaterThan(0);
  expect(size).toEqual([]);
});
