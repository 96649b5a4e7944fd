import { expect, test } from '@playwright/test';
import { idle, openCapture, plotOf } from './viewer.ts';

test('idle gaps are folded on request, marked on the axis, and in the link', async ({ page }) => {
  await openCapture(page, 'frag_gpt_varlen.pickle.gz');
  const axis = page.getByRole('group', { name: 'Horizontal axis' });
  await axis.getByRole('button', { name: 'Folded' }).click();
  await idle(page);
  await expect(page).toHaveURL(/axis=time.*gaps=folded/);
  const marks = page.locator('.x-axis .fold');
  await expect(marks.first()).toBeAttached();
  await expect(marks.first().locator('title')).toHaveText(/ s|ms|min.* without events/);
});

test('X goes through events, time and folded time', async ({ page }) => {
  await openCapture(page, 'frag_gpt_varlen.pickle.gz');
  const pressed = page
    .getByRole('group', { name: 'Horizontal axis' })
    .locator('[aria-pressed="true"]');
  for (const name of ['Time', 'Folded', 'Events']) {
    await page.keyboard.press('x');
    await expect(pressed).toHaveText(name);
    await idle(page);
    await expect(plotOf(page)).toBeVisible();
  }
});
