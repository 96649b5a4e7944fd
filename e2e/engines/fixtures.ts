/** One engine per worker of the runner, and the page on its own host. */
import { test as base } from '@playwright/test';
import { type StaticHost, staticHost } from '../static-server.ts';
import { type Engine, startEngine } from './engine.ts';
import { startFirefox } from './firefox.ts';
import { Visitor } from './visitor.ts';
import { startWebkit, type WebkitPrograms } from './webkit.ts';

/** Which engine, and where its programs are. */
export type Target =
  | { readonly engine: 'firefox'; readonly program: string }
  | { readonly engine: 'webkit'; readonly programs: WebkitPrograms };

export interface EngineOptions {
  readonly target: Target | undefined;
}

interface WorkerFixtures {
  readonly engine: Engine;
  readonly site: StaticHost;
}

export const test = base.extend<{ visitor: Visitor }, EngineOptions & WorkerFixtures>({
  target: [undefined, { scope: 'worker', option: true }],
  engine: [
    async ({ target }, use) => {
      if (target === undefined) throw new Error('No engine is named');
      const engine = await startEngine(
        target.engine === 'firefox' ? startFirefox(target.program) : startWebkit(target.programs),
      );
      await use(engine);
      await engine.close();
    },
    { scope: 'worker', timeout: 180_000 },
  ],
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads what a fixture needs from it
    async ({}, use) => {
      const site = await staticHost('dist');
      await use(site);
      await site.close();
    },
    { scope: 'worker' },
  ],
  visitor: async ({ engine }, use) => use(new Visitor(engine)),
});
