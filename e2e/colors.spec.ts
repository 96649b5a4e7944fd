/** Legends as laid out: no two entries alike, and every line number fully visible. */
import { expect, type Page, test } from '@playwright/test';
import { chooseFile, fixture, legendOf } from './viewer.ts';

/**
 * The longest labels, every way to name a site, the most entries. For all captures, labels and colors are compared in
 * src/draw/coloring/site-colors.test.ts.
 */
const CAPTURES = [
  'near-miss/leak_hf_trainer_graph.pickle.gz',
  'near-miss/torchvision_random_batches.pickle.gz',
  'near-miss/leak_cpp_stacks.pickle.gz',
  'default_stacks/oom_batch_too_big.pickle.gz',
  'train_annotated.pickle.gz',
  'compile_train.pickle.gz',
  'oom_fragmented.pickle.gz',
];

interface ShownEntry {
  readonly label: string;
  /** '' for more than one color. */
  readonly color: string;
  /** The text after the colon of a line, if it lies outside its box. */
  readonly isLineCut: boolean;
}

/** What a person sees of the legend now, without entries that wrapped out of its row. */
async function entriesShown(page: Page): Promise<readonly ShownEntry[]> {
  return legendOf(page)
    .locator('li')
    .evaluateAll((items) => {
      const bottom = items[0]?.parentElement?.getBoundingClientRect().bottom ?? 0;
      const isShown = (item: Element) => item.getBoundingClientRect().top < bottom;
      // From the label's box down to the text of ':123', nothing may be narrower than that text.
      const isLineCut = (label: Element) => {
        const line = label.querySelector('.line-label-line');
        if (line === null) return /:\d+/.test(label.textContent ?? '');
        const { left, right } = line.getBoundingClientRect();
        const box = label.getBoundingClientRect();
        const isClipped = line.scrollWidth > Math.ceil(right - left) + 1;
        return isClipped || right > box.right + 1 || left < box.left;
      };
      return items.filter(isShown).map((item) => {
        const label = item.querySelector('.legend-label') ?? item;
        const [swatch, ...more] = item.querySelectorAll('.swatches > span');
        const isOne = swatch !== undefined && more.length === 0;
        return {
          label: label.textContent ?? '',
          color: isOne ? getComputedStyle(swatch).backgroundColor : '',
          isLineCut: isLineCut(label),
        };
      });
    });
}

async function expectReadable(page: Page, about: string): Promise<number> {
  const entries = await entriesShown(page);
  const colors = entries.map(({ color }) => color).filter((color) => color !== '');
  const labels = entries.map(({ label }) => label);
  expect([...new Set(colors)], `colors of ${about}`).toEqual(colors);
  expect([...new Set(labels)], `labels of ${about}`).toEqual(labels);
  const cut = entries.filter(({ isLineCut }) => isLineCut);
  expect(cut, `lines that are cut off in ${about}`).toEqual([]);
  return entries.length;
}

test('legends: colors and labels differ, and no line is cut off', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await page.goto('/');
  let entries = 0;
  for (const name of CAPTURES) {
    await chooseFile(page, fixture(name));
    // Its findings need not be awaited.
    await expect(page).toHaveTitle(`${name.replace(/.*\//, '')} · vramscope`);
    await expect(page.locator('.color-legend[aria-busy="true"]')).toHaveCount(0);
    await expectReadable(page, name);
    await legendOf(page).getByRole('button', { name: /^All / }).click();
    entries += await expectReadable(page, `${name}, open`);
    await legendOf(page).getByRole('button', { name: 'Less' }).click();
  }
  expect(entries).toBeGreaterThan(50);

  await test.step('forced colors keep the swatches, and mark the active tab', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    const swatch = page.locator('.legend-filter .swatches > span').first();
    await expect(swatch).toHaveCSS('forced-color-adjust', 'none');
    const tabs = page.getByTestId('view-tabs');
    await expect(tabs.locator('[aria-current="page"]')).toHaveCSS('outline-style', 'solid');
  });
});
