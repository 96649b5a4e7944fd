import { expect, type Page, test } from '@playwright/test';
import { idle, openCapture, searchOf, showView, summaryOf } from './viewer.ts';

/** Opens a view and returns its plot. */
async function show(page: Page, view: string, plot: string) {
  await showView(page, view);
  const surface = page.getByRole('application', { name: plot });
  await expect(surface).toBeVisible();
  await idle(page);
  return surface;
}

/** Pixels of the map itself, below everything drawn over it, that have a color. */
async function countOf(page: Page, [red, green, blue]: readonly [number, number, number]) {
  const canvas = page
    .getByRole('application', { name: 'Memory by address over time' })
    .locator('canvas')
    .first();
  return canvas.evaluate(
    (element: HTMLCanvasElement, color) => {
      const { width, height } = element;
      const data = element.getContext('2d')?.getImageData(0, 0, width, height).data ?? [];
      let hits = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (color.every((value, c) => data[i + c] === value)) hits++;
      }
      return hits;
    },
    [red, green, blue],
  );
}

test.use({ colorScheme: 'light' });

test('addresses at the OOM: the gaps, the blocks of a finding, and what created a segment', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const plot = await show(page, 'Addresses', 'Memory by address over time');
  const addresses = page.getByRole('region', { name: 'Addresses' });

  await test.step('the address map shows the gaps, and describes each', async () => {
    await summaryOf(page)
      .getByRole('button', { name: /Out of memory/ })
      .click();
    await expect(addresses).toContainText('3.76 GiB free in 35 ranges, the largest 354.66 MiB');
    await expect(addresses).toContainText('379.75 MiB requested, larger than any range');
    await plot.focus();
    // The newest allocation at the OOM; the memory next to it is free.
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('details')).toContainText(/b7[0-9a-f]+_\d+/);
    await expect(addresses).toContainText(/Event 6,195: .* block b7/);
    await expect(addresses).not.toContainText('free at 0x7f');
    const crosshair = addresses.getByText(/^Event 6,195: /);
    // Each press is answered before the next: one too many would leave the gap again.
    for (let presses = 0; presses < 40; presses++) {
      const before = (await crosshair.textContent()) ?? '';
      await page.keyboard.press('Shift+ArrowUp');
      await expect(crosshair).not.toHaveText(before);
      if ((await crosshair.textContent())?.includes('free at 0x7f')) break;
    }
    await expect(crosshair).toContainText('free at 0x7f');
  });

  await test.step('a finding’s blocks and gaps are outlined until it is closed', async () => {
    await showView(page, 'Timeline');
    await page.getByRole('tab', { name: /Findings/ }).click();
    const findings = page.getByTestId('findings');
    await findings.getByRole('button', { name: /was never needed/ }).click();
    const evidence = findings.getByRole('region', { name: 'Show the evidence' });
    await evidence.getByRole('button', { name: 'Addresses' }).click();
    await expect(addresses).toContainText('blocks of the finding');
    await expect(addresses).toContainText('its gaps');
    const [block, gap] = [
      [0xb9, 0x1c, 0x35],
      [0x8b, 0x24, 0xc4],
    ] as const;
    await expect.poll(() => countOf(page, block)).toBeGreaterThan(1000);
    await expect.poll(() => countOf(page, gap)).toBeGreaterThan(1000);
    await expect(page).toHaveURL(/[#&]x=\d/);
    await findings.getByRole('button', { name: /was never needed/ }).click();
    await expect(addresses).not.toContainText('its gaps');
    await expect.poll(() => countOf(page, gap)).toBe(0);
  });

  await test.step('names what created a segment, and what it holds', async () => {
    const segments = await show(page, 'Segments', 'Reserved memory over time');
    await page.keyboard.press('f');
    await idle(page);
    const box = await segments.boundingBox();
    if (box === null) throw new Error('The plot is not on the page');
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.8);
    await expect(page.getByTestId('tooltip')).toContainText('segment of the large pool');
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.8);
    const panel = page.getByRole('region', { name: 'Segment', exact: true });
    await expect(panel).toContainText('Created by');
    await expect(panel).toContainText('scenarios.py');
    await expect(panel).toContainText(/used by \d+ blocks?/);
    await panel.getByRole('button', { name: 'Filter' }).click();
    await expect(searchOf(page)).toHaveValue(/s7f/);
  });
});

test('one window for all plots, and a separate one for addresses', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const plot = await show(page, 'Addresses', 'Memory by address over time');
  const before = await plot.screenshot();
  await plot.focus();
  await page.keyboard.press('+');
  await page.keyboard.press('Alt+=');
  await idle(page);
  await expect.poll(async () => (await plot.screenshot()).equals(before)).toBe(false);
  await expect(page).toHaveURL(/x=\d/);
  const x = new URL(page.url()).hash.match(/x=[^&]*/)?.[0] ?? 'no window';
  await showView(page, 'Timeline');
  await idle(page);
  await expect.poll(() => page.url()).toContain(x);
  await showView(page, 'Addresses');
  await plot.focus();
  await page.keyboard.press('f');
  await idle(page);
  await expect.poll(async () => (await plot.screenshot()).equals(before)).toBe(true);
});
