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

test('a difference needs two events; its rows name the leak, the largest first, and speedscope can open it', async ({
  page,
}) => {
  await openFlame(page, 'leak_output_list.pickle.gz');
  await page.getByLabel('Show').selectOption('difference of both cursors');
  await expect(page.getByText('A difference needs two events')).toBeVisible();
  await page.getByRole('button', { name: 'From the first event to the last' }).click();
  await expect(page.getByText('Change from event 0 to event 4,986')).toBeVisible();
  await page.goto('/#v=1&view=flame-graph&flame=difference&mark=1300&at=3800');
  await expect(page.getByRole('columnheader', { name: 'Difference' })).toHaveAttribute(
    'aria-sort',
    'descending',
  );
  await expect(
    rowsOf(page).filter({ hasText: 'leak_output_list experiments/scenarios.py:262' }),
  ).toBeVisible();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Speedscope' }).click();
  const file = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
  expect(file.profiles.map(({ name }: { name: string }) => name.split(': ')[1])).toEqual([
    'grew',
    'shrank',
  ]);
});

test('transforms of the stacks make a list: each can be undone alone, Back undoes the last, a link keeps all', async ({
  page,
}) => {
  await openFlame(page, 'train_gpt_small.pickle.gz');
  const list = page.getByRole('navigation', { name: 'Transforms' });
  const menu = page.getByRole('menu', { name: 'Transforms' });
  const whole = page.getByText(/^Live at the peak, after event 2,453: 1\.26 GiB/);

  await test.step('a right click opens the menu of a box; keys move in it', async () => {
    await graphOf(page).click({ button: 'right', position: { x: 60, y: 70 } });
    await expect(menu.getByRole('menuitem', { name: 'Focus on this box' })).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await expect(menu.getByRole('menuitem', { name: 'Focus on train_gpt_small' })).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    await expect(graphOf(page)).toBeFocused();
    await page.keyboard.press('Shift+F10');
    await menu.getByRole('menuitem', { name: 'Merge train_gpt_small' }).click();
    await expect(list).toContainText('Merge train_gpt_small');
    await expect(whole).toBeVisible();
    await expect(rowsOf(page).filter({ hasText: 'train_gpt_small' })).toHaveCount(0);
  });

  await test.step('a row has the same menu; what is dropped leaves the table as well', async () => {
    await rowsOf(page).filter({ hasText: 'scenarios.py:83' }).click({ button: 'right' });
    await menu.getByRole('menuitem', { name: 'Drop allocations with' }).first().click();
    await expect(list.getByRole('button', { name: /^Undo: Drop/ })).toBeVisible();
    await expect(whole).toBeHidden();
    await expect(rowsOf(page).filter({ hasText: 'scenarios.py:83' })).toHaveCount(0);
  });

  await test.step('its link leads back; Back undoes the last, an x any of them', async () => {
    await idle(page);
    await page.reload();
    await chooseFile(page, fixture('train_gpt_small.pickle.gz'));
    await expect(list.getByRole('button', { name: /^Undo: / })).toHaveCount(2);
    await list.getByRole('button', { name: /^Undo: Merge/ }).click();
    await expect(list.getByRole('button', { name: /^Undo: / })).toHaveCount(1);
    await expect(rowsOf(page).filter({ hasText: 'train_gpt_small' })).not.toHaveCount(0);
    await page.goBack();
    await expect(list).toContainText('Merge train_gpt_small');
    await list.getByRole('button', { name: 'All stacks' }).click();
    await expect(list).toHaveCount(0);
    await expect(whole).toBeVisible();
  });
});

test('a sandwich has the callers and the callees of one function, each with all of its bytes', async ({
  page,
}) => {
  await openFlame(page, 'train_gpt_cpp_stacks.pickle.gz');
  await page.getByLabel(/^by/).selectOption('function');
  await idle(page);
  const row = rowsOf(page).filter({ hasText: 'lm_loss' }).first();
  const bytes = await row.getByRole('gridcell').nth(1).innerText();
  await row.click();
  await chosenOf(page).getByRole('button', { name: 'Transform' }).click();
  await page.getByRole('menuitem', { name: 'Callers and callees of' }).click();
  await expect(page.getByRole('status', { name: 'Callers and callees' })).toContainText(bytes);
  for (const name of ['Callers', 'Callees']) {
    const half = page.getByRole('application', { name });
    await half.focus();
    await page.keyboard.press(name === 'Callers' ? 'ArrowUp' : 'ArrowDown');
    await expect(chosenOf(page)).toContainText(bytes);
    await page.keyboard.press(name === 'Callers' ? 'ArrowUp' : 'ArrowDown');
    await expect(chosenOf(page)).not.toContainText('lm_loss');
  }
  await page.goBack();
  await expect(graphOf(page)).toBeVisible();
});
