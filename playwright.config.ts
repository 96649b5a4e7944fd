import { createServer } from 'node:net';
import { defineConfig } from '@playwright/test';
import type { EngineOptions, Target } from './e2e/engines/fixtures.ts';
import { chromiumFlags, findChromium, findFirefox, findWebkit } from './scripts/find-programs.mjs';

/** A free one, so that two runs do not meet; all processes of a run have the same. */
process.env.E2E_PORT ??= await freePort();
const PORT = process.env.E2E_PORT;
const executablePath = findChromium();

/** The engines that Playwright does not drive, those of them that are installed. */
const firefox = findFirefox();
const webkit = findWebkit();
const targets: readonly Target[] = [
  ...(firefox === undefined ? [] : [{ engine: 'firefox', program: firefox } as const]),
  ...(webkit === undefined ? [] : [{ engine: 'webkit', programs: webkit } as const]),
];

export default defineConfig<object, EngineOptions>({
  testDir: 'e2e',
  outputDir: 'test-results',
  forbidOnly: process.env.CI !== undefined,
  // Two tabs keep two cores busy for three quarters of the time; a third one uses the rest.
  workers: 3,
  timeout: 60_000,
  // A machine may be busy; what is right appears, and is not waited for any longer.
  expect: { timeout: 15_000 },
  // A machine that stalls for seconds fails a gesture that no page could follow. `npm test` names
  // each test that needed its second try.
  retries: 1,
  reporter: [['list'], ['json', { outputFile: 'test-results/e2e.json' }]],
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    viewport: { width: 1280, height: 800 },
    // Emptied between tests: a new one each takes longer than most of them.
    reuseContext: true,
    // A trace of every test takes a third of the time; `npx playwright test --trace on` makes them.
    screenshot: 'only-on-failure',
    // Each test begins in a profile of its own, and would fetch and keep the whole page first.
    serviceWorkers: 'block',
    launchOptions: {
      // One test collects garbage itself; a browser of its own would have to be started for it.
      args: [...chromiumFlags(), '--js-flags=--expose-gc'],
      ...(executablePath && { executablePath }),
    },
  },
  projects: [
    // First, as each is one long row of tests: those in Chromium then fill both workers to the end.
    ...targets.map((target) => ({
      name: target.engine,
      testDir: 'e2e/engines',
      testIgnore: target.engine === 'firefox' ? [] : 'forced-colors.spec.ts',
      timeout: 120_000,
      expect: { timeout: 30_000 },
      retries: 0,
      // Which starts the engine once.
      workers: 1,
      use: { target },
    })),
    { name: 'chromium', testIgnore: 'engines/**', fullyParallel: true },
  ],
  webServer: {
    command: `node node_modules/vite/bin/vite.js preview --port ${PORT} --strictPort --host 127.0.0.1`,
    url: `http://127.0.0.1:${PORT}`,
    reuseExistingServer: false,
  },
});

function freePort(): Promise<string> {
  const server = createServer();
  return new Promise((found) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => found(String(typeof address === 'object' ? address?.port : '')));
    });
  });
}
