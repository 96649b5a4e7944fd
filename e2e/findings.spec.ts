import { expect, type Page, test } from '@playwright/test';
import { idle, openCapture, pictureOf, plotOf, summaryOf } from './viewer.ts';

const findingsOf = (page: Page) => page.getByTestId('findings');
const cardOf = (page: Page, text: string | RegExp) =>
  findingsOf(page).getByRole('listitem').filter({ hasText: text }).first();

/** Share of the plot's width that a highlight's bar covers, at the very top. */
async function bandShare(page: Page): Promise<number> {
  const [red, green, blue] = [0xb9, 0x1c, 0x35];
  return plotOf(page)
    .locator('canvas')
    .last()
    .evaluate(
      (canvas: HTMLCanvasElement, color) => {
        const row = canvas.getContext('2d')?.getImageData(0, 1, canvas.width, 1).data ?? [];
        let hits = 0;
        for (let i = 0; i < row.length; i += 4) {
          if (color.every((value, c) => Math.abs((row[i + c] ?? 0) - value) < 4)) hits++;
        }
        return hits / canvas.width;
      },
      [red, green, blue],
    );
}

test.use({ colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'] });

test('a leak: what, which line, where; the same again from the link', async ({ page }) => {
  await page.goto('/?snapshot=samples/leak_forward_hook.pickle.gz');
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  const findings = findingsOf(page);
  await expect(findings).toContainText(
    'No OOM, but 20.00 MiB of tensors are kept, 512.00 KiB more each step.',
  );
  const leak = cardOf(page, 'Growth: kept by a hook');
  await expect(leak).toContainText('512.00 KiB more each step');
  await expect(leak).toContainText('20.00 MiB');
  await expect(leak.getByText('scenarios.py:271').last()).toBeVisible();
  // The verdict's finding is highlighted from the start, until a click removes the highlight.
  await expect.poll(() => bandShare(page)).toBeGreaterThan(0.9);
  const highlighted = await pictureOf(page);
  await findings.getByRole('button', { name: 'Highlighted in the plots', exact: true }).click();
  await idle(page);
  await expect.poll(() => bandShare(page)).toBe(0);
  // So are its blocks: all others are paler.
  await expect.poll(() => pictureOf(page)).not.toBe(highlighted);
  const plain = await pictureOf(page);
  await findings.getByRole('button', { name: 'Not highlighted in the plots' }).click();
  await expect.poll(() => pictureOf(page)).toBe(highlighted);
  await findings.getByRole('button', { name: 'Highlighted in the plots', exact: true }).click();
  await expect.poll(() => pictureOf(page)).toBe(plain);

  const verdict = findings.getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText('handle.remove()');
  await leak.getByRole('button', { name: /20\.00 MiB in 40 tensors/ }).click();
  await idle(page);
  await expect(leak.getByRole('heading', { name: 'What to try' })).toBeVisible();
  await expect.poll(() => bandShare(page)).toBeGreaterThan(0.9);
  await expect(page).toHaveURL(/finding=/);

  const url = page.url();
  await page.goto('about:blank');
  await page.goto(url);
  await expect(cardOf(page, 'What to try')).toBeVisible();
  await idle(page);
  await expect.poll(() => bandShare(page)).toBeGreaterThan(0.9);
  await expect.poll(() => page.url()).toBe(url);

  await page.keyboard.press('Escape');
  await expect(findings).not.toContainText('What to try');
  await findings.getByRole('button', { name: 'Highlighted in the plots', exact: true }).click();
  await idle(page);
  await expect.poll(() => bandShare(page)).toBe(0);
  await expect(page).not.toHaveURL(/finding=/);
});

test('by keyboard alone, and as Markdown', async ({ page }) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const findings = findingsOf(page);
  await expect(findings).toContainText(
    'Out of memory: fragmented, 3.76 GiB is in gaps between blocks.',
  );
  // One line to look at; a later sentence says whose request failed.
  const verdict = findings.getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText('scenarios.py:323 (_fragment) pins memory');
  await expect(cardOf(page, /^HighFragmentation/)).toContainText('experiments/scenarios.py:323');
  await expect(findings).not.toContainText('experiments/scenarios.py:322');
  await page.getByRole('tab', { name: /Findings/ }).focus();
  // The verdict's first line comes first, and leads to the evidence.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(findings.getByRole('heading', { name: 'What to try' })).toBeVisible();
  await page.getByRole('button', { name: 'Copy all findings as Markdown' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('findings in oom\\_fragmented.pickle.gz, device 0');
  expect(text).toContain('scenarios.py:323');
  expect(text).toContain('- no-grad: cannot tell');
  await expect(page.getByRole('tab', { name: /Findings/ })).toHaveText(/^Findings\d$/);
});

test('retried requests never appear as OOMs', async ({ page }) => {
  await openCapture(page, 'near-miss/cudnn_tries_workspaces.pickle.gz');
  await idle(page);
  const stat = summaryOf(page).getByRole('button', { name: /^Out of memory/ });
  await expect(stat).toContainText('once');
  await expect(stat).toHaveAttribute(
    'title',
    /4,294,967,296 bytes requested; .*; 11 other requests were retried$/,
  );
  await expect(findingsOf(page)).toContainText(
    '11 requests failed, each in a row of requests that ended with a smaller one, which was served',
  );
  await page.getByRole('button', { name: 'Jump to' }).click();
  await expect(page.getByRole('button', { name: /^Out of memory, \d/ })).toHaveCount(0);
});
