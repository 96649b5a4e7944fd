/** Where the memory is: every reserved byte in a row, and where a row leads. */
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, cursorOf, fixture, idle, openCapture, plotOf, searchOf } from './viewer.ts';

const accountOf = (page: Page) => page.getByRole('region', { name: 'Where the memory is' });
const rowsOf = (page: Page) =>
  accountOf(page).getByRole('list', { name: 'Parts of the reserved memory' });
const rowOf = (page: Page, name: string | RegExp) => rowsOf(page).getByRole('button', { name });

/** What the search box says about its matches. */
const foundOf = (page: Page) => page.getByRole('search');

test('a row filters all views, the search finds as many bytes, and Escape undoes it', async ({
  page,
}) => {
  await openCapture(page, 'leak_loss_graph.pickle.gz');
  const row = rowOf(page, /^kept autograd graphs/);
  await expect(row).toContainText('+63.04 MiB a step, 40 times');
  await row.click();
  await idle(page);
  await expect(row).toHaveAttribute('aria-pressed', 'true');
  await expect(foundOf(page)).toContainText('2.46 GiB at the cursor');
  await expect(page).toHaveURL(/part(:|%3A)kept-graph/);
  // Another row replaces it.
  await rowOf(page, /^optimizer state/).click();
  await expect(rowOf(page, /^optimizer state/)).toHaveAttribute('aria-pressed', 'true');
  await expect(rowOf(page, /^kept autograd graphs/)).toHaveAttribute('aria-pressed', 'false');
  await plotOf(page).focus();
  await page.keyboard.press('Escape');
  await expect(rowOf(page, /^optimizer state/)).toHaveAttribute('aria-pressed', 'false');
});

test('a link that names a row finds its blocks once the analysis is done', async ({ page }) => {
  await page.goto('/?snapshot=samples/leak_forward_hook.pickle.gz');
  await idle(page);
  await rowOf(page, /^kept tensors/).click();
  await expect(foundOf(page)).toContainText('20.00 MiB at the cursor');
  const url = page.url();
  await page.goto('about:blank');
  await page.goto(url);
  await expect(foundOf(page)).toContainText('20.00 MiB at the cursor');
  await expect(rowOf(page, /^kept tensors/)).toHaveAttribute('aria-pressed', 'true');
});

test('rows lead to where their bytes are, by keys too, at the peak and at the end', async ({
  page,
}) => {
  await openCapture(page, 'train_gpt_checkpoint.pickle.gz');
  await expect(accountOf(page)).toContainText('944.00 MiB reserved at event 4,411.');

  await test.step('small rows share one, which opens; the keyboard reaches every row', async () => {
    await expect(rowOf(page, /^activations/)).toBeHidden();
    await rowsOf(page).getByText('2 smaller entries').click();
    await expect(rowOf(page, /^activations/)).toBeVisible();
    await rowOf(page, /^temporaries/).focus();
    await page.keyboard.press('Tab');
    await expect(rowOf(page, /^parameters and buffers/)).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(rowOf(page, /^parameters and buffers/)).toHaveAttribute('aria-pressed', 'true');
    await expect(searchOf(page)).toHaveValue('class:parameters');
  });

  await test.step('gaps lead to the address map, empty segments to the state, at that moment', async () => {
    await rowOf(page, /^gaps between blocks/).click();
    await expect(page.getByRole('region', { name: 'Addresses' })).toBeVisible();
    await expect(cursorOf(page)).toContainText('Event 4,411');
    await rowOf(page, /^empty segments/).click();
    await expect(page.getByRole('region', { name: 'State' })).toBeVisible();
  });

  await test.step('the moment is the peak, or the end if chosen', async () => {
    await accountOf(page).getByRole('button', { name: 'At the end' }).click();
    await expect(accountOf(page)).toContainText('event 14,341');
    await expect(rowOf(page, /^empty segments/)).toBeVisible();
  });
});

test.describe('in the plot', () => {
  test.use({ colorScheme: 'light' });

  /** Share of the plot's width that has the color of limits, in the row with most of it. */
  const limitShare = (page: Page): Promise<number> =>
    plotOf(page)
      .locator('canvas')
      .last()
      .evaluate((canvas: HTMLCanvasElement) => {
        const { width, height } = canvas;
        const data = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
        const hits = new Array<number>(height).fill(0);
        for (let i = 0; i < data.length; i += 4) {
          const isLimit = [0xb9, 0x1c, 0x35].every(
            (value, c) => Math.abs((data[i + c] ?? 0) - value) < 14,
          );
          if (isLimit && (data[i + 3] ?? 0) > 200) hits[Math.floor(i / 4 / width)]++;
        }
        return Math.max(...hits) / width;
      });

  test('the limit is a line, and steps are shown', async ({ page }) => {
    await openCapture(page, 'oom_fragmented.pickle.gz');
    await expect(page.getByText('291 iter.', { exact: true })).toBeVisible();
    // Dashes, so more than half of the width.
    await expect.poll(() => limitShare(page)).toBeGreaterThan(0.5);
    await chooseFile(page, fixture('train_gpt_small.pickle.gz'));
    await expect(page.getByText('6 steps', { exact: true })).toBeVisible();
    await expect.poll(() => limitShare(page)).toBeLessThan(0.1);
  });
});
