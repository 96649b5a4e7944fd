import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DETECTORS } from '../src/analysis/findings/detectors.ts';
import { FINDINGS_PATH, withDetectorTable } from './findings-table.mjs';

it('docs/findings.md lists the detectors as they are: else run node scripts/findings-table.mjs', () => {
  const text = readFileSync(FINDINGS_PATH, 'utf8');
  expect(withDetectorTable(text, DETECTORS)).toBe(text);
  expect(withDetectorTable(text, DETECTORS.slice(1))).not.toBe(text);
});
