/** A system with forced colors, as people with low vision use it. Of these engines only Firefox has them. */
import { resolve } from 'node:path';
import { expect } from '@playwright/test';
import { startEngine } from './engine.ts';
import { FORCED_COLORS, startFirefox } from './firefox.ts';
import { test } from './fixtures.ts';
import { Visitor } from './visitor.ts';

test('keeps the colors of the legend and shows the active tab in forced colors', async ({
  target,
  site,
}) => {
  if (target?.engine !== 'firefox') throw new Error('This engine has no forced colors');
  const engine = await startEngine(startFirefox(target.program, FORCED_COLORS));
  try {
    const visitor = new Visitor(engine);
    await visitor.visit(site.url);
    expect(await visitor.ask(() => matchMedia('(forced-colors: active)').matches)).toBe(true);
    await visitor.open(resolve('fixtures/train_gpt_small.pickle.gz'));
    const { swatches, outlines } = await visitor.ask(() => ({
      swatches: [...document.querySelectorAll('.color-legend .swatches > span')].map(
        (one) => getComputedStyle(one).backgroundColor,
      ),
      outlines: [...document.querySelectorAll('[data-testid=view-tabs] button')].map(
        (one) => getComputedStyle(one).outlineStyle,
      ),
    }));
    expect(new Set(swatches).size).toBeGreaterThan(5);
    expect(outlines.filter((style) => style === 'solid')).toHaveLength(1);
  } finally {
    await engine.close();
  }
});
