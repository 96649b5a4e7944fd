import { expect, it } from 'vitest';
import { drawnSide } from '../../testing/sides.ts';
import { compareSeries } from './series.ts';

/** A dump after a number of steps: each step keeps 1 MiB, and the model stays. */
const dump = (steps: number, line = 7) =>
  drawnSide(
    [
      '+weights 9Mi @train.py:3 main',
      ...Array.from(
        { length: steps },
        (_, i) => `+kept${i} 1Mi @train.py:${line} keep < train.py:20 main`,
      ),
    ].join('\n'),
    'end',
  );

it('names what grows from file to file, even if its line moved', () => {
  const { sites, classes, verdict } = compareSeries([dump(2), dump(5, 8), dump(9, 9)]);
  const [first, ...others] = sites;
  expect(first).toMatchObject({ bytes: [2, 5, 9].map((mib) => mib * 2 ** 20), counts: [2, 5, 9] });
  expect(first.grows).toBe(true);
  expect(others.map(({ bytes }) => bytes)).toEqual([[9, 9, 9].map((mib) => mib * 2 ** 20)]);
  expect(classes.length).toBeGreaterThan(0);
  expect(verdict).toBe(
    'Allocated 11.00 MiB → 14.00 MiB → 18.00 MiB (+7.00 MiB): in every file there is more from train.py:7 (+7.00 MiB).',
  );
});

it('memory that is level after the second file is not growth', () => {
  expect(compareSeries([dump(1), dump(6), dump(6)]).verdict).toMatch(/no call site grows/);
});

it('says when nothing grows', () => {
  expect(compareSeries([dump(3), dump(3), dump(3)]).verdict).toMatch(/no call site grows by 1 MiB/);
});
