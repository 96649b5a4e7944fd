import { readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, fixture, idle } from './viewer.ts';

const graphOf = (page: Page) => page.getByRole('application', { name: 'Flame graph' });
const chosenOf = (page: Page) => page.getByRole('region', { name: 'Chosen frame' });
const trailOf = (page: Page) => page.getByRole('navigation', { name: 'Zoomed into' });
const rowsOf = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('gridcell') });

async function openFlame(page: Page, capture: string): Promise<void> {
  await page.goto('/#v=1&view=flame-graph');
  await chooseFile(page, fixture(capture));
  await expect(page.getByRole('region', { name: 'Flame graph' })).toBeVisible();
  await idle(page);
}

test('a box zooms and shows its frame, by click and by key; its link leads back to the same picture', async ({
  page,
}) => {
  await openFlame(page, 'train_gpt_small.pickle.gz');

  await test.step('a click zooms, and its link leads back', async () => {
    await expect(page.getByText('Live at the peak, after event 2,453: 1.26 GiB')).toBeVisible();
    await graphOf(page).click({ position: { x: 60, y: 70 } });
    await expect(trailOf(page)).toContainText('train_gpt_small');
    await expect(chosenOf(page)).toContainText('scenarios.py:107');
    await expect(chosenOf(page)).toContainText('77.7%');
    await idle(page);
    await page.reload();
    await chooseFile(page, fixture('train_gpt_small.pickle.gz'));
    await expect(trailOf(page)).toContainText('train_gpt_small');
    await trailOf(page).getByRole('button', { name: 'All', exact: true }).click();
    await expect(page.getByText('Click a box to zoom into it')).toBeVisible();
    await page.goBack();
    await expect(trailOf(page)).toContainText('train_gpt_small');
  });

  await test.step('a frame filters all views', async () => {
    await rowsOf(page).filter({ hasText: 'scenarios.py:83' }).click();
    await chosenOf(page).getByRole('button', { name: 'Filter to this' }).click();
    await expect(page.getByText(/Live at the peak.* that match the search/)).toContainText(
      '681.64 MiB',
    );
    await chosenOf(page).getByRole('button', { name: 'Events' }).click();
    await expect(page.getByRole('grid', { name: 'Events' })).toBeVisible();
    await expect(page).toHaveURL(/search=frame/);
  });

  await test.step('keys go from box to box, zoom in and out', async () => {
    await page.goto('/#v=1&view=flame-graph');
    await expect(trailOf(page)).toHaveCount(0);
    await idle(page);
    await graphOf(page).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await expect(chosenOf(page)).toContainText('main');
    await page.keyboard.press('Enter');
    await expect(trailOf(page)).toContainText('main');
    await page.keyboard.press('Escape');
    await expect(trailOf(page)).not.toContainText('main');
  });
});

test('a difference needs two events; its first row is the leak, and speedscope can open it', async ({
  page,
}) => {
  await openFlame(page, 'leak_output_list.pickle.gz');
  await page.getByLabel('Show').selectOption('difference of both cursors');
  await expect(page.getByText('A difference needs two events')).toBeVisible();
  await page.getByRole('button', { name: 'From the first event to the last' }).click();
  await expect(page.getByText('Change from event 0 to event 4,986')).toBeVisible();
  await page.goto('/#v=1&view=flame-graph&flame=difference&mark=1300&at=3800');
  await expect(rowsOf(page).first()).toContainText('leak_output_list experiments/scenarios.py:262');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Speedscope' }).click();
  const file = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  expect(file.profiles.map(({ name }: { name: string }) => name.split(': ')[1])).toEqual([
    'grew',
    'shrank',
  ]);
});
