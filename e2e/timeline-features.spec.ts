import { expect, test } from '@playwright/test';
import { idle, legendOf, openCapture, pointAt } from './viewer.ts';

test('colors, cursors, annotations and matches of one timeline', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');

  await test.step('colors by phase and filters by a click on the legend, and back', async () => {
    await page.getByLabel('Color by').selectOption('phase');
    const forward = legendOf(page).getByRole('button', { name: /## forward ##/ });
    await expect(forward).toContainText('424.02 MiB');
    await forward.click();
    await expect(forward).toHaveAttribute('aria-pressed', 'true');
    await expect(page).toHaveURL(/search=phase/);
    await forward.press('Enter');
    await expect(forward).toHaveAttribute('aria-pressed', 'false');
    await expect(page).not.toHaveURL(/search=/);
  });

  await test.step('sets a second cursor with Alt and a click, and measures from it', async () => {
    const [from, to] = [await pointAt(page, 0.2, 0.1), await pointAt(page, 0.4, 0.1)];
    await page.mouse.click(from.x, from.y);
    await page.keyboard.down('Alt');
    await page.mouse.click(to.x, to.y);
    await page.keyboard.up('Alt');
    await expect(page).toHaveURL(/mark=\d+/);
    await expect(page.getByText(/^From event/)).toBeVisible();
  });

  await test.step('goes through the annotations by keys', async () => {
    await page.mouse.move(0, 0);
    const tracks = page.getByRole('application', { name: /Annotations|## / });
    await tracks.focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('application', { name: /^## step 0 ##/ })).toBeVisible();
    await page.keyboard.press('ArrowDown');
    await expect(page.getByRole('application', { name: /^## forward ##/ })).toBeVisible();
    await expect(page.getByTestId('tooltip')).toContainText('## forward ##');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/x=\d+/);
    await page.keyboard.press('f');
    await expect(page).not.toHaveURL(/x=/);
  });

  await test.step('names the annotation under the pointer, and zooms to it', async () => {
    const tracks = page.getByRole('application', { name: /Annotations|## / });
    const box = await tracks.boundingBox();
    if (box === null) throw new Error('There are no tracks');
    // The strip answers the pointer once its tracks are laid out.
    await expect(async () => {
      await page.mouse.move(box.x + box.width * 0.1 + 1, box.y + 4);
      await page.mouse.move(box.x + box.width * 0.1, box.y + 4);
      await expect(page.getByTestId('tooltip')).toContainText('## step 0 ##', { timeout: 500 });
    }).toPass();
    await page.mouse.click(box.x + box.width * 0.1, box.y + 4);
    await expect(page).toHaveURL(/x=/);
  });

  await test.step('stacks only the matches, and fits to them', async () => {
    await page.keyboard.press('f');
    await idle(page);
    const axis = page.locator('.y-axis');
    await expect(axis).toContainText('768 MiB');
    await page.evaluate(() => {
      window.location.hash = '#v=1&search=size%3E%3D16MiB&only=matches';
    });
    await expect(axis).not.toContainText('640 MiB');
    await expect(axis).toContainText('512 MiB');
  });
});
