/** The walk in the engines that Playwright does not drive, those of them that are installed. */
import { defineConfig } from '@playwright/test';
import type { EngineOptions, Target } from './e2e/engines/fixtures.ts';
import { findFirefox, findWebkit } from './scripts/find-engines.mjs';

const program = findFirefox();
const programs = findWebkit();
const targets: readonly Target[] = [
  ...(program === undefined ? [] : [{ engine: 'firefox', program } as const]),
  ...(programs === undefined ? [] : [{ engine: 'webkit', programs } as const]),
];

export default defineConfig<object, EngineOptions>({
  testDir: 'e2e/engines',
  outputDir: 'test-results/engines',
  forbidOnly: process.env.CI !== undefined,
  // One worker for each engine, which it starts once.
  workers: 2,
  timeout: 120_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['json', { outputFile: 'test-results/engines.json' }]],
  projects: targets.map((target) => ({
    name: target.engine,
    use: { target },
    testIgnore: target.engine === 'firefox' ? [] : 'forced-colors.spec.ts',
  })),
});
