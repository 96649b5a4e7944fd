import { expect, test } from '@playwright/test';
import { HOSTILE_FILES } from '../src/testing/hostile.ts';
import { chooseFile, fixture, idle, summaryOf, unzipped } from './viewer.ts';

/** Many in one page, one after the other: what one of them leaves behind, the next would meet. */
const GROUPS = 4;

for (let group = 0; group < GROUPS; group++) {
  const files = HOSTILE_FILES.filter((_, i) => i % GROUPS === group);
  test(`${files.length} broken files: one clear message each, and the page goes on (${group + 1})`, async ({
    page,
  }) => {
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto('/');
    for (const { name, make } of files) {
      await chooseFile(page, { name, mimeType: '', buffer: Buffer.from(make()) });
      const card = page.getByTestId('error');
      await expect(card, name).toBeVisible();
      expect(((await card.textContent()) ?? '').length, name).toBeLessThan(700);
      await chooseFile(page, fixture('cuda_graph_pool.pickle.gz'));
      await expect(card, name).toHaveCount(0);
      await expect(page.getByTestId('timeline')).toBeVisible();
    }
    expect(errors).toEqual([]);
  });
}

test('code in a pickle is named and not run', async ({ page }) => {
  const code = HOSTILE_FILES.find((file) => file.code === 'holds-code');
  if (code === undefined) throw new Error('No hostile file holds code');
  await page.goto('/');
  await chooseFile(page, { name: 'x.pickle', mimeType: '', buffer: Buffer.from(code.make()) });
  await expect(page.getByTestId('error')).toContainText(/ran nothing/i);
});

test('a file cut short opens as far as it goes, marked as partial', async ({ page }) => {
  await page.goto('/');
  const whole = unzipped('train_gpt_small.pickle.gz');
  await chooseFile(page, { ...whole, buffer: whole.buffer.subarray(0, 700_000) });
  await expect(page.getByTestId('error')).toContainText(/byte 700,000/);
  await page.getByRole('button', { name: /complete events before the error/ }).click();
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
  await summaryOf(page)
    .getByRole('button', { name: /Figures|notes?$/ })
    .click();
  await expect(
    summaryOf(page).getByText('only events before the error').filter({ visible: true }),
  ).toBeVisible();
});
