import { expect, type Page, test } from '@playwright/test';
import { idle, legendOf, openCapture, plotOf, pointAt, searchOf } from './viewer.ts';

const entry = (page: Page, name: RegExp) => legendOf(page).getByRole('button', { name });
const tab = (page: Page, name: string) =>
  page.getByTestId('view-tabs').getByRole('button', { name });

test('what is it: by color, in bands, in the search, in tables and in the flame graph', async ({
  page,
}) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');

  await test.step('colors show classes by default, which come first in the menu', async () => {
    const choice = page.getByLabel('Color by');
    await expect(choice.getByRole('option').first()).toHaveText('class');
    await choice.selectOption('class');
    await expect(page).toHaveURL(/color=class/);
    await expect(entry(page, /^parameters and buffers/)).toContainText('131.21 MiB');
    await expect(entry(page, /^activations/)).toBeVisible();
  });

  await test.step('a click in the legend filters to gradients', async () => {
    await entry(page, /^gradients/).click();
    await expect(searchOf(page)).toHaveValue('class:gradients');
    await expect(entry(page, /^gradients/)).toHaveAttribute('aria-pressed', 'true');
    await entry(page, /^gradients/).click();
    await expect(searchOf(page)).toHaveValue('');
  });

  await test.step('in bands each class is one area, and a block is found under the pointer', async () => {
    await page.getByRole('button', { name: 'Bands' }).click();
    await expect(page).toHaveURL(/order=class/);
    await idle(page);
    // Parameters are at the bottom.
    const { x, y } = await pointAt(page, 0.5, 0.04);
    await page.mouse.move(x, y);
    await expect(page.getByTestId('tooltip')).toContainText('parameters and buffers');
    await plotOf(page).click({ position: await positionOf(page, 0.5, 0.04) });
    const details = page.getByTestId('details');
    await expect(details).toContainText('parameters and buffers');
    await expect(details).toContainText('a module was built, loaded, or moved');
  });

  await test.step('the summary says what the peak is made of', async () => {
    await tab(page, 'Summary').click();
    await page.getByTestId('main-panel').getByRole('button', { name: 'At the peak' }).click();
    const table = page.getByRole('table', { name: 'Active memory by class' });
    const row = (name: string) => table.getByRole('row', { name });
    await expect(row('activations')).toContainText('55%');
    await expect(row('optimizer state')).toContainText('261.41 MiB');
    await expect(row('optimizer state')).toContainText('202');
  });

  await test.step('the search finds a class by a prefix of its name', async () => {
    await tab(page, 'Allocations').click();
    await searchOf(page).fill('class:optimizer');
    await expect(page.getByRole('search')).toContainText('202');
    const rows = page.getByRole('row').filter({ has: page.getByRole('gridcell') });
    await expect(rows.first()).toContainText('optimizer state');
    await searchOf(page).fill('');
  });

  await test.step('the flame graph is rooted by class', async () => {
    await tab(page, 'Flame').click();
    await page.getByLabel(/^by/).selectOption('class');
    await expect(page).toHaveURL(/by=class/);
    const graph = page.getByRole('application', { name: 'Flame graph' });
    await graph.click({ position: { x: 60, y: 32 } });
    await expect(page.getByRole('region', { name: 'Chosen frame' })).toContainText('activations');
  });
});

async function positionOf(page: Page, fromLeft: number, fromBottom: number) {
  const box = await plotOf(page).boundingBox();
  const { x, y } = await pointAt(page, fromLeft, fromBottom);
  return { x: x - (box?.x ?? 0), y: y - (box?.y ?? 0) };
}
