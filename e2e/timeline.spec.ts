import { expect, test } from '@playwright/test';
import { cursorOf, idle, openCapture, pictureOf, plotOf, pointAt, summaryOf } from './viewer.ts';

test('names the line behind a pixel, and pins it', async ({ page }) => {
  await openCapture(page, 'leak_forward_hook.pickle.gz');
  // Low in the stack at the end: a parameter of the model, made at the start.
  const low = await pointAt(page, 0.9, 0.05);
  await page.mouse.move(low.x, low.y);
  const tooltip = page.getByTestId('tooltip');
  await expect(tooltip).toBeVisible();
  await expect(tooltip).toContainText(/(KiB|MiB)/);
  await expect(tooltip).toContainText('scenarios.py');
  await page.mouse.click(low.x, low.y);
  const details = page.getByTestId('details');
  await expect(details).toContainText(/b7[0-9a-f]+_\d+/);
  await expect(page.getByTestId('stack').first()).toContainText('scenarios.py');
  await expect(details).toContainText(/requested/i);
});

test('a link brings back the same selection and window', async ({ page }) => {
  await page.goto('/?snapshot=samples/train_gpt_small.pickle.gz');
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
  const middle = await pointAt(page, 0.5, 0.2);
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -600);
  await idle(page);
  await page.mouse.click(middle.x, middle.y);
  const label = page
    .getByTestId('details')
    .getByText(/^b7[0-9a-f]+_\d+$/)
    .first();
  await expect(label).toBeVisible();
  const pinned = (await label.textContent()) ?? '';
  await expect(page).toHaveURL(new RegExp(pinned));
  const url = page.url();
  await page.goto('about:blank');
  await page.goto(url);
  await expect(page.getByTestId('details').getByText(pinned).first()).toBeVisible();
  await idle(page);
  await expect.poll(() => page.url()).toBe(url);
});

test('a zoom ends with the picture that panning there and back has', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const middle = await pointAt(page, 0.5, 0.2);
  await page.mouse.move(middle.x, middle.y);
  // While it moves, a picture may have half of its columns; a pan has all.
  for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -100);
  await idle(page);
  const zoomed = await pictureOf(page);
  await page.mouse.wheel(100, 0);
  await idle(page);
  expect((await pictureOf(page)) === zoomed).toBe(false);
  await page.mouse.wheel(-100, 0);
  await idle(page);
  expect((await pictureOf(page)) === zoomed).toBe(true);
});

test('the wheel zooms at the pointer, the keyboard fits again', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const before = await plotOf(page).screenshot();
  const middle = await pointAt(page, 0.5, 0.5);
  await page.mouse.move(middle.x, middle.y);
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -300);
  await idle(page);
  await page.mouse.move(0, 0);
  await idle(page);
  const zoomed = await plotOf(page).screenshot();
  expect(zoomed.equals(before)).toBe(false);
  await plotOf(page)
    .focus()
    .catch(() => undefined);
  await page.keyboard.press('f');
  await idle(page);
  await expect.poll(async () => (await plotOf(page).screenshot()).equals(before)).toBe(true);

  await test.step('says why a coloring would distinguish nothing', async () => {
    const options = page.getByLabel('Color by').locator('option:disabled');
    await expect(options).toHaveText([
      'stream (one stream only)',
      'category (none recorded)',
      'compiled region (nothing was compiled)',
    ]);
  });
});

test('lines can be switched off and on; keys and a figure lead to the OOM', async ({ page }) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const reserved = page.getByRole('button', { name: 'Reserved line', pressed: true });
  await expect(reserved).toBeVisible();
  await reserved.click();
  await expect(page.getByRole('button', { name: 'Reserved line', pressed: false })).toBeVisible();

  await test.step('leads to the OOM', async () => {
    await page.keyboard.press('e');
    await expect(page).toHaveURL(/at=6301/);
    await summaryOf(page)
      .getByRole('button', { name: /Out of memory/ })
      .click();
    await expect(cursorOf(page)).toContainText('Event 6,195');
    await expect(page).not.toHaveURL(/at=/);
  });
});
