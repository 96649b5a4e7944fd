import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import {
  dropPaths,
  expectShown,
  fixture,
  idle,
  openCapture,
  searchOf,
  showView,
  tabsOf,
  VIEWS,
} from './viewer.ts';

const sideTab = (page: Page, name: RegExp) =>
  page.getByRole('tablist', { name: 'Side panel' }).getByRole('tab', { name });

const THEMES = ['dark', 'light'] as const;

/**
 * In the dark theme, checks only what can differ: the contrast, but not names and roles again.
 * @param within  a selector: checks only what is in it, if the rest was checked before
 */
async function expectNothingSerious(
  page: Page,
  within = 'html',
  themes: readonly (typeof THEMES)[number][] = THEMES,
  impact = /serious|critical/,
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await idle(page);
    // Axe is loaded once per page, which takes longer than most of its checks.
    const axeSource = (await page.evaluate(() => 'axe' in window)) ? 'void 0' : undefined;
    const axe = new AxeBuilder({ page, ...(axeSource && { axeSource }) })
      .include(within)
      // There are no frames, for which it would open a page, and nobody reads the list of passed checks.
      .setLegacyMode()
      .options({ resultTypes: ['violations'], preload: false });
    if (colorScheme === 'dark' && themes.length > 1) axe.withRules('color-contrast');
    const { violations } = await axe.analyze();
    const serious = violations.filter((one) => impact.test(one.impact ?? ''));
    expect(serious.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`)).toEqual([]);
  }
}

test('axe finds nothing serious on the page or in its dialogs', async ({ page }) => {
  await page.goto('/');
  await expectNothingSerious(page);
  await openCapture(page, 'train_annotated.pickle.gz');
  await expectNothingSerious(page);
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Help' })).toBeVisible();
  await expectNothingSerious(page, 'dialog[open]');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await expectNothingSerious(page, 'dialog[open]');
  await page.keyboard.press('Escape');
  await dropPaths(page, fixture('train_resnet.pickle.gz'));
  await expect(page.getByRole('dialog', { name: /^What should/ })).toBeVisible();
  await expectNothingSerious(page, 'dialog[open]');
  await page.keyboard.press('Escape');
  await sideTab(page, /Details/).click();
  await expectNothingSerious(page, '.view:has(> [role="tablist"])');
});

test('axe finds nothing at all in any view', async ({ page }) => {
  // Contrast takes axe a while per cell, so show few rows.
  await page.setViewportSize({ width: 1024, height: 560 });
  await openCapture(page, 'oom_fragmented.pickle.gz');
  // The views share their colors, so each theme is checked in every other view.
  for (const [index, view] of VIEWS.entries()) {
    await showView(page, view);
    await idle(page);
    await expectNothingSerious(page, '#view-picture', [THEMES[index % 2] ?? 'light'], /./);
  }
});

test('digits show the views; /, ? and Escape do what the help says', async ({ page }) => {
  await openCapture(page, 'train_annotated.pickle.gz');
  for (const [index, view] of VIEWS.entries()) {
    await page.keyboard.press(String(index + 1));
    await expectShown(page, view);
  }
  await expect(tabsOf(page)).toHaveCount(7);
  await page.keyboard.press('/');
  await expect(searchOf(page)).toBeFocused();
  await page.keyboard.type('1?');
  await expect(searchOf(page)).toHaveValue('1?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(searchOf(page)).not.toBeFocused();
  const help = page.getByRole('dialog', { name: 'Help' });
  await page.keyboard.press('?');
  await expect(help).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();

  await test.step('arrows go between the side panel’s tabs, which are one stop', async () => {
    const [findings, details] = [sideTab(page, /Findings/), sideTab(page, /Details/)];
    await findings.focus();
    await page.keyboard.press('ArrowRight');
    await expect(details).toBeFocused();
    await expect(details).toHaveAttribute('aria-selected', 'true');
    await expect(page.getByTestId('details')).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(findings).toBeFocused();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Tab');
    await expect(findings).not.toBeFocused();
  });
});

test('Tab reaches every control, and the focus is visible', async ({ page }) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const passed: { name: string; isSeen: boolean }[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    passed.push(
      await page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        // The search field draws its focus ring around its container.
        const ringed = [element, element.parentElement ?? element].map((one) => {
          const { outlineStyle, boxShadow } = getComputedStyle(one);
          return outlineStyle !== 'none' || boxShadow !== 'none';
        });
        const name = element.getAttribute('aria-label') ?? element.textContent ?? '';
        return { name: name.trim(), isSeen: ringed.includes(true) || element === document.body };
      }),
    );
  }
  expect(passed.filter(({ isSeen }) => !isSeen)).toEqual([]);
  const names = passed.map(({ name }) => name).join('\n');
  for (const name of [
    'Open…',
    'Timeline',
    'What if',
    'Export',
    'Search',
    'Measure from here',
    'Fit',
  ]) {
    expect(names).toContain(name);
  }
  expect(names).toMatch(/^Findings/m);
  expect(names).toMatch(/Memory over time/);
});

test('a word that is explained says so to the keyboard; no heading skips a level', async ({
  page,
}) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const line = page.getByRole('button', { name: 'pins memory' });
  await line.focus();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  await expect(line).toBeFocused();
  const tooltip = page.locator('.focused-tooltip');
  await expect(tooltip).toContainText('the free memory around them cannot go back to the GPU');
  await expect(line).toHaveAccessibleDescription(/the free memory around them/);
  await page.keyboard.press('Tab');
  await expect(tooltip).not.toContainText('the free memory around them');
  const levels = await page
    .locator(':is(h1, h2, h3, h4):visible')
    .evaluateAll((all) => all.map((one) => Number(one.tagName[1])));
  expect(levels.length).toBeGreaterThan(2);
  for (const [i, level] of levels.entries())
    expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1);
});
