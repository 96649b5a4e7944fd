import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { labeledRuns } from '../src/testing/class-truth.ts';
import { CLASSES_PATH, withAccuracyTable } from './classes-table.mjs';

it('docs/classes.md has the shares as they are: else run node scripts/classes-table.mjs', () => {
  const text = readFileSync(CLASSES_PATH, 'utf8');
  const runs = labeledRuns();
  expect(withAccuracyTable(text, runs)).toBe(text);
  expect(withAccuracyTable(text, runs.slice(1))).not.toBe(text);
});
