/** Where a file opens, where Back returns to, and what Esc undoes. */
import { expect, type Page, test } from '@playwright/test';
import {
  chooseFile,
  cursorOf,
  fixture,
  idle,
  legendOf,
  openCapture,
  plotOf,
  pointAt,
} from './viewer.ts';

const tabOf = (page: Page, name: string) => page.getByRole('tab', { name });
const entries = (page: Page) => page.evaluate(() => window.history.length);

test('a file opens at its first OOM, else at the peak, and Esc leads back there', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  await expect(cursorOf(page)).toContainText('Event 6,195');
  await expect(cursorOf(page)).toContainText('oom');
  await expect(cursorOf(page)).toContainText('Allocated 2.05 GiB');

  await test.step('Esc undoes a pin and a click on the legend', async () => {
    const search = page.getByRole('combobox', { name: 'Search' });
    await legendOf(page).getByRole('list').getByRole('button').first().click();
    await expect(search).not.toHaveValue('');
    const low = await pointAt(page, 0.4, 0.1);
    await page.mouse.click(low.x, low.y);
    await expect(page).toHaveURL(/select=/);
    await page.keyboard.press('Escape');
    await expect(page).not.toHaveURL(/select=/);
    await expect(cursorOf(page)).toContainText('Event 6,195');
    await expect(search).not.toHaveValue('');
    await page.keyboard.press('Escape');
    await expect(search).toHaveValue('');
  });

  await chooseFile(page, fixture('train_annotated.pickle.gz'));
  await expect(cursorOf(page)).toContainText('Allocated 827.35 MiB');
  await expect(page.getByTestId('findings')).toBeVisible();
});

test('Esc leaves the cursor where the file opened, and brings it back there', async ({ page }) => {
  await page.goto('/?snapshot=samples/oom_fragmented.pickle.gz');
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  await page.keyboard.press('Escape');
  await expect(cursorOf(page)).toContainText('Event 6,195');
  await page.keyboard.press(',');
  await expect(cursorOf(page)).toContainText('Event 6,194');
  await page.keyboard.press('Escape');
  await expect(cursorOf(page)).toContainText('Event 6,195');
});

test('Back and a second file return to the findings', async ({ page }) => {
  await openCapture(page, 'leak_forward_hook.pickle.gz');
  await expect(tabOf(page, 'Findings')).toHaveAttribute('aria-selected', 'true');
  const low = await pointAt(page, 0.9, 0.05);
  await page.mouse.click(low.x, low.y);
  await expect(tabOf(page, 'Details')).toHaveAttribute('aria-selected', 'true');
  await page.goBack();
  await expect(tabOf(page, 'Findings')).toHaveAttribute('aria-selected', 'true');
  await page.mouse.click(low.x, low.y);
  await expect(tabOf(page, 'Details')).toHaveAttribute('aria-selected', 'true');
  await chooseFile(page, fixture('train_resnet.pickle.gz'));
  await expect(page).toHaveTitle(/train_resnet/);
  await expect(tabOf(page, 'Findings')).toHaveAttribute('aria-selected', 'true');
  await tabOf(page, 'Details').click();
  await chooseFile(page, fixture('train_annotated.pickle.gz'));
  await expect(page).toHaveTitle(/train_annotated/);
  await expect(page.getByTestId('findings')).toBeVisible();
});

test('a pin, a wheel and a drag get one history entry each, and Back undoes one at a time', async ({
  context,
}) => {
  // A new page: the history stops growing after 50 entries, which other tests may have made.
  const page = await context.newPage();
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const before = await entries(page);
  const middle = await pointAt(page, 0.5, 0.2);
  await page.mouse.click(middle.x, middle.y);
  await expect(page).toHaveURL(/select=/);
  await idle(page);
  const pinned = page.url();
  // All at once, like a hand on a wheel: a pause between two would begin another gesture.
  await Promise.all(Array.from({ length: 5 }, () => page.mouse.wheel(0, -300)));
  await expect(page).toHaveURL(/x=/);
  await idle(page);
  const zoomed = page.url();
  await page.mouse.down();
  await page.mouse.move(middle.x - 60, middle.y, { steps: 6 });
  await page.mouse.up();
  await expect(page).not.toHaveURL(zoomed);
  await idle(page);
  await expect.poll(() => entries(page)).toBe(before + 3);
  await page.goBack();
  await expect(page).toHaveURL(zoomed);
  await page.goBack();
  await expect(page).toHaveURL(pinned);
  await page.goBack();
  await expect(page).not.toHaveURL(/select=/);

  await test.step('a double click shows the whole trace and pins nothing', async () => {
    const middle = await pointAt(page, 0.5, 0.2);
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.wheel(0, -600);
    await expect(page).toHaveURL(/x=/);
    await idle(page);
    await page.mouse.dblclick(middle.x, middle.y);
    await idle(page);
    await expect(page).not.toHaveURL(/x=|select=/);
    await expect(tabOf(page, 'Findings')).toHaveAttribute('aria-selected', 'true');
  });
});
