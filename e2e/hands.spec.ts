/** Keys that work without a click first, the minimap, and everything that looks clickable. */
import { expect, type Page, test } from '@playwright/test';
import { cursorOf, expectShown, idle, openCapture, showView, tabsOf } from './viewer.ts';

const hashOf = (page: Page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

/** Width of the window in events. */
async function spanOf(page: Page): Promise<number> {
  await idle(page);
  const [from, to] = (hashOf(page).get('x') ?? '0..Infinity').split('..').map(Number);
  return (to ?? 0) - (from ?? 0);
}

test('keys zoom and pan on a fresh page, also W A S D; dragging on the minimap does too', async ({
  page,
}) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  await page.keyboard.press('+');
  const once = await spanOf(page);
  expect(once).toBeLessThan(Infinity);
  await page.keyboard.press('w');
  const twice = await spanOf(page);
  expect(twice).toBeLessThan(once);
  await page.keyboard.press('a');
  await idle(page);
  const left = hashOf(page).get('x');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => hashOf(page).get('x')).not.toBe(left);
  await page.keyboard.press('s');
  expect(await spanOf(page)).toBeGreaterThan(twice);
  await page.keyboard.press('f');
  expect(await spanOf(page)).toBe(Infinity);

  await test.step('the plot’s keys do not affect text fields', async () => {
    await page.getByRole('combobox', { name: 'Search' }).fill('w');
    await page.keyboard.type('as');
    await expect(page.getByRole('combobox', { name: 'Search' })).toHaveValue('was');
    expect(hashOf(page).get('x')).toBeNull();
    await page.getByRole('combobox', { name: 'Search' }).fill('');
  });

  await test.step('a drag on the minimap shows that range', async () => {
    const box = await page.getByTestId('minimap').boundingBox();
    if (box === null) throw new Error('There is no minimap');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 8 });
    await page.mouse.up();
    await idle(page);
    const events = await cursorOf(page).textContent();
    const total = Number(/of ([\d,]+)/.exec(events ?? '')?.[1]?.replaceAll(',', ''));
    const [from = 0, to = 0] = (hashOf(page).get('x') ?? '').split('..').map(Number);
    expect(from / total).toBeCloseTo(0.25, 1);
    expect(to / total).toBeCloseTo(0.5, 1);
  });
});

test('after a digit or a click on a tab, keys go to the view; arrows move in a table', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  for (const [digit, view] of [
    ['2', 'address-map'],
    ['3', 'segments'],
  ] as const) {
    await page.keyboard.press(digit);
    await expect(page).toHaveURL(new RegExp(`view=${view}`));
    await expect(page.locator('.plot-surface')).toBeVisible();
    await idle(page);
    await page.keyboard.press('+');
    expect(await spanOf(page), view).toBeLessThan(Infinity);
    await page.keyboard.press('f');
    expect(await spanOf(page), view).toBe(Infinity);
  }
  await showView(page, 'Timeline');
  // A tab of several views opens the one that it showed last.
  await tabsOf(page).filter({ hasText: 'Allocator' }).click();
  await expectShown(page, 'Segments');
  await showView(page, 'Timeline');
  await page.keyboard.press('+');
  expect(await spanOf(page)).toBeLessThan(Infinity);
  await page.keyboard.press('7');
  await expect(page.getByRole('grid').first()).toBeVisible();
  await idle(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('grid').first()).toHaveAttribute('aria-activedescendant', /./);
});

test('the verdict, a sparkline and two cursors lead to their evidence', async ({ page }) => {
  await openCapture(page, 'leak_forward_hook.pickle.gz');
  const verdict = page.getByRole('status', { name: 'Verdict' });
  await verdict.getByRole('button', { name: /512\.00 KiB more each step/ }).click();
  await expect(page).toHaveURL(/finding=/);
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/finding=/);

  // Its first quarter shows early steps.
  const cursor = cursorOf(page);
  const opened = await cursor.textContent();
  const sparkline = page.getByRole('button', { name: /at most .* over/ }).first();
  await sparkline.scrollIntoViewIfNeeded();
  const box = await sparkline.boundingBox();
  if (box === null) throw new Error('There is no sparkline');
  await page.mouse.click(box.x + box.width / 4, box.y + box.height / 2);
  await expect(page).toHaveURL(/at=\d+/);
  await expect(cursor).not.toHaveText(opened ?? '');

  await page.keyboard.press('m');
  await page.keyboard.press('p');
  const difference = page.getByRole('region', { name: 'From the second cursor to the cursor' });
  await difference.getByRole('button', { name: 'Compare by stack' }).click();
  await expect(page.getByRole('application', { name: 'Flame graph' })).toBeVisible();
  await expect(page).toHaveURL(/flame=difference/);
});
