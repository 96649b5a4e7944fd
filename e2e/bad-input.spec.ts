import { expect, test } from '@playwright/test';
import { HOSTILE_FILES } from '../src/testing/hostile.ts';
import { chooseFile, fixture, idle, summaryOf, unzipped } from './viewer.ts';

for (const { name, make } of HOSTILE_FILES) {
  test(`${name}: one clear message, and the page goes on`, async ({ page }) => {
    await page.goto('/');
    const errors: Error[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await chooseFile(page, { name, mimeType: '', buffer: Buffer.from(make()) });
    const card = page.getByTestId('error');
    await expect(card).toBeVisible();
    expect(((await card.textContent()) ?? '').length).toBeLessThan(700);
    await chooseFile(page, fixture('train_annotated.pickle.gz'));
    await expect(page.getByTestId('timeline')).toBeVisible();
    expect(errors).toEqual([]);
  });
}

test('code in a pickle is named and not run', async ({ page }) => {
  const code = HOSTILE_FILES.find((file) => file.code === 'holds-code');
  if (code === undefined) throw new Error('No hostile file holds code');
  await page.goto('/');
  await chooseFile(page, { name: 'x.pickle', mimeType: '', buffer: Buffer.from(code.make()) });
  await expect(page.getByTestId('error')).toContainText(/nothing was run/i);
});

test('a file cut short opens as far as it goes, marked as partial', async ({ page }) => {
  await page.goto('/');
  const whole = unzipped('train_gpt_small.pickle.gz');
  await chooseFile(page, { ...whole, buffer: whole.buffer.subarray(0, 700_000) });
  await expect(page.getByTestId('error')).toContainText(/byte 700,000/);
  await page.getByRole('button', { name: /whole events before the fault/ }).click();
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
  await expect(summaryOf(page).getByText('only what came before the fault')).toBeVisible();
});
