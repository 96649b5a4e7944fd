import { createServer } from 'node:net';
import { defineConfig } from '@playwright/test';
import type { EngineOptions, Target } from './e2e/engines/fixtures.ts';
import { chromiumFlags, findChromium, findFirefox, findWebkit } from './scripts/find-programs.mjs';

/** A free port, so that two runs don't collide; all processes of a run share it. */
process.env.E2E_PORT ??= await freePort();
const PORT = process.env.E2E_PORT;
const executablePath = findChromium();

/** The installed ones of the engines that Playwright does not drive. */
const firefox = findFirefox();
const webkit = findWebkit();
const targets: readonly Target[] = [
  ...(firefox === undefined ? [] : [{ engine: 'firefox', program: firefox } as const]),
  ...(webkit === undefined ? [] : [{ engine: 'webkit', programs: webkit } as const]),
];

export default defineConfig<object, EngineOptions>({
  testDir: 'e2e',
  outputDir: 'test-results',
  // What pictures.spec.ts compares lies beside the pictures.
  snapshotPathTemplate: 'docs/images/{arg}{ext}',
  forbidOnly: process.env.CI !== undefined,
  // Two tabs keep two cores busy for three quarters of the time; a third one uses the rest.
  workers: 3,
  // Ends a test that hangs. On a busy machine, the longest takes most of a minute.
  timeout: 120_000,
  // A busy machine may need this long; a test that passes does not wait for it.
  expect: { timeout: 15_000 },
  // If the machine stalls for seconds, a gesture fails that no page could follow. `npm test` names each test that
  // needed its second try.
  retries: 1,
  reporter: [['list'], ['json', { outputFile: 'test-results/e2e.json' }]],
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    viewport: { width: 1280, height: 800 },
    // Emptied between tests, because creating a new one takes longer than most of them.
    reuseContext: true,
    // Tracing every test costs a third of the time; `npx playwright test --trace on` does it.
    screenshot: 'only-on-failure',
    // Each test begins with a fresh profile, and would first fetch and store the whole page.
    serviceWorkers: 'block',
    launchOptions: {
      // One test collects garbage itself; otherwise it would need its own browser. Pages that live for a second pay
      // more for V8's last compiler than it gives back: a seventh of all CPU time.
      args: [...chromiumFlags(), '--js-flags=--expose-gc --no-turbofan'],
      ...(executablePath && { executablePath }),
    },
  },
  projects: [
    // Comes first, because each is one long series of tests; those in Chromium then fill both workers to the end.
    ...targets.map((target) => ({
      name: target.engine,
      testDir: 'e2e/engines',
      testIgnore: target.engine === 'firefox' ? [] : 'forced-colors.spec.ts',
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
