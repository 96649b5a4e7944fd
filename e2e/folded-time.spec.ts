import { expect, test } from '@playwright/test';
import { idle, openCapture, plotOf } from './viewer.ts';

test('idle gaps are folded on request or with X, marked on the axis, and in the link', async ({
  page,
}) => {
  await openCapture(page, 'frag_gpt_varlen.pickle.gz');
  const axis = page.getByRole('group', { name: 'Horizontal axis' });
  await axis.getByRole('button', { name: 'Folded' }).click();
  await idle(page);
  await expect(page).toHaveURL(/axis=time.*gaps=folded/);
  const marks = page.locator('.x-axis .fold');
  await expect(marks.first()).toBeAttached();
  await expect(marks.first().locator('title')).toHaveText(/ s|ms|min.* without events/);

  // X goes through events, time and folded time.
  const pressed = axis.locator('[aria-pressed="true"]');
  for (const name of ['Events', 'Time', 'Folded']) {
    await page.keyboard.press('x');
    await expect(pressed).toHaveText(name);
    await idle(page);
    await expect(plotOf(page)).toBeVisible();
  }
});
