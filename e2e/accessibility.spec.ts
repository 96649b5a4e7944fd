import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { openCapture } from './viewer.ts';

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.goto('/');
    await expectNothingSerious(page);
    await openCapture(page, 'train_annotated.pickle.gz');
    await expectNothingSerious(page);
  });
}

async function expectNothingSerious(page: Parameters<typeof openCapture>[0]): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
}
