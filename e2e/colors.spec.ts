import { expect, test } from '@playwright/test';
import { openCapture } from './viewer.ts';

for (const name of ['oom_fragmented', 'train_gpt_small', 'compile_train']) {
  test(`${name}: the call sites of the legend have colors that differ`, async ({ page }) => {
    await openCapture(page, `${name}.pickle.gz`);
    const legend = page.getByRole('region', { name: 'Colors' });
    const sites = legend.locator('.legend-filter .swatches:has(> span:only-child) > span');
    await expect(sites.first()).toBeVisible();
    const colors = await sites.evaluateAll((all) =>
      all.map((one) => getComputedStyle(one).backgroundColor),
    );
    expect(colors.length).toBeGreaterThan(1);
    expect(new Set(colors).size).toBe(colors.length);
  });
}

test('forced colors leave swatches as they are, and mark the tab that is shown', async ({
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const swatch = page.locator('.legend-filter .swatches > span').first();
  await expect(swatch).toHaveCSS('forced-color-adjust', 'none');
  const tabs = page.getByTestId('view-tabs');
  await expect(tabs.locator('[aria-current="page"]')).toHaveCSS('outline-style', 'solid');
});
