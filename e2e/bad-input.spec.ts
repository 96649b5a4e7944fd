import { expect, test } from '@playwright/test';
import { HOSTILE_FILES } from '../src/testing/hostile.ts';
import { chooseFile, fixture, idle, summaryOf, unzipped } from './viewer.ts';

/** One of each kind; src/format/input/read-snapshot.test.ts reads them all. */
const FILES = HOSTILE_FILES.filter(
  ({ code }, i) => HOSTILE_FILES.findIndex((other) => other.code === code) === i,
);

test('broken files of each kind: one clear message, and the page goes on', async ({ page }) => {
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.goto('/');
  // One after the other: what one of them leaves behind, the next would meet.
  for (const { name, make } of FILES) {
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
