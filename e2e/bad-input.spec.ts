import { expect, test } from '@playwright/test';
import { HOSTILE_FILES } from '../src/testing/hostile.ts';
import { chooseFile, fixture, idle, openCapture, summaryOf, unzipped } from './viewer.ts';

/** One of each kind; src/format/input/read-snapshot.test.ts reads them all. */
const FILES = HOSTILE_FILES.filter(
  ({ code }, i) => HOSTILE_FILES.findIndex((other) => other.code === code) === i,
);

test('broken files of each kind: one clear message, no code is run, and the page still works', async ({
  page,
}) => {
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await openCapture(page, 'cuda_graph_pool.pickle.gz');
  const card = page.getByTestId('error');
  // One after the other, so that each meets whatever the previous one left behind.
  for (const { name, code, make } of FILES) {
    await chooseFile(page, { name, mimeType: '', buffer: Buffer.from(make()) });
    await expect(card, name).toContainText(`${name} `);
    await expect(card, name).toContainText('cuda_graph_pool.pickle.gz is still open');
    expect(((await card.textContent()) ?? '').length, name).toBeLessThan(700);
    if (code === 'holds-code') await expect(card).toContainText(/ran nothing/i);
  }
  await chooseFile(page, fixture('two_devices.pickle.gz'));
  await expect(card).toHaveCount(0);
  await expect(page.getByRole('banner')).toContainText('two_devices');
  expect(errors).toEqual([]);
});

test('a truncated file opens as far as possible, marked as partial', async ({ page }) => {
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
