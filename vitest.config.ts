import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
    environment: 'node',
    // The files of one worker share its modules: compiled code, and captures decoded once.
    isolate: false,
    // Captures stay in memory. With a larger nursery, the garbage collector copies them less often.
    execArgv: ['--max-semi-space-size=64'],
    // All cores: by default, vitest keeps one for a parent that only waits.
    maxWorkers: '100%',
    // Tests of whole captures take seconds when two cores are busy with other things.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
