import { expect, type Page, test } from '@playwright/test';
import { idle, openCapture, plotOf, summaryOf } from './viewer.ts';

const findingsOf = (page: Page) => page.getByTestId('findings');
const cardOf = (page: Page, text: string | RegExp) =>
  findingsOf(page).getByRole('listitem').filter({ hasText: text }).first();

/** Share of the plot's width that the bar of a band covers, at its very top. */
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

/** The stack of all blocks, without what is drawn over it. */
const pictureOf = (page: Page): Promise<string> =>
  plotOf(page)
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());

test.use({ colorScheme: 'light', permissions: ['clipboard-read', 'clipboard-write'] });

test('a leak: what, which line, where; again from the link', async ({ page }) => {
  await page.goto('/?snapshot=samples/leak_forward_hook.pickle.gz');
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
  const findings = findingsOf(page);
  await expect(findings).toContainText(
    'No OOM, but 20.00 MiB of tensors are kept, 512.00 KiB more each step.',
  );
  const leak = cardOf(page, 'Growth: kept by a hook');
  await expect(leak).toContainText('512.00 KiB each step');
  await expect(leak).toContainText('20.00 MiB');
  await expect(leak.getByText('scenarios.py:271').last()).toBeVisible();
  // What the verdict is about is marked from the start, until a click takes the mark away.
  await expect.poll(() => bandShare(page)).toBeGreaterThan(0.9);
  const marked = await pictureOf(page);
  await findings.getByRole('button', { name: 'Marked in the plots', exact: true }).click();
  await idle(page);
  await expect.poll(() => bandShare(page)).toBe(0);
  // Its blocks, too: among them all others are paler.
  await expect.poll(() => pictureOf(page)).not.toBe(marked);
  const plain = await pictureOf(page);
  await findings.getByRole('button', { name: 'Not marked in the plots' }).click();
  await expect.poll(() => pictureOf(page)).toBe(marked);
  await findings.getByRole('button', { name: 'Marked in the plots', exact: true }).click();
  await expect.poll(() => pictureOf(page)).toBe(plain);

  const verdict = findings.getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText('handle.remove()');
  await leak.getByRole('button', { name: /keeps 20\.00 MiB/ }).click();
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
  await findings.getByRole('button', { name: 'Marked in the plots', exact: true }).click();
  await idle(page);
  await expect.poll(() => bandShare(page)).toBe(0);
  await expect(page).not.toHaveURL(/finding=/);
});

test('an OOM that a leak led to: the leak first, and its advice', async ({ page }) => {
  await openCapture(page, 'pairs/oom_leak.all.pickle.gz');
  const verdict = findingsOf(page).getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText(
    'Out of memory: 3.84 GiB of tensors are kept, 96.00 MiB more each step.',
  );
  await expect(verdict.getByRole('listitem')).toHaveCount(1);
  await expect(verdict.getByRole('button', { name: /^capture\.py:613/ })).toBeVisible();
  await verdict.getByRole('button', { name: 'The whole verdict' }).click();
  await expect(verdict).toContainText(
    /^Out of memory: tensors that capture\.py:613 \(oom_leak\) allocates are kept: 3\.84 GiB of the/,
  );
  const advice = verdict.getByRole('region', { name: 'What to try first' }).getByRole('listitem');
  await expect(advice.first()).toContainText(/Saves .* GiB, enough\./);
  await expect(advice).not.toHaveCount(1);
  await verdict.getByRole('button', { name: /^Out of memory/ }).click();
  await expect(cardOf(page, 'What to try')).toContainText('capture.py:613');
});

test('by keyboard alone, and as Markdown', async ({ page }) => {
  await openCapture(page, 'oom_fragmented.pickle.gz');
  const findings = findingsOf(page);
  await expect(findings).toContainText('Out of memory: fragmented, 3.76 GiB is free in pieces.');
  // One line to look at: whose request failed is said further down, in a sentence.
  const verdict = findings.getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText('scenarios.py:323 (_fragment) pins memory');
  await expect(cardOf(page, /^HighFragmentation/)).toContainText('experiments/scenarios.py:323');
  await expect(findings).not.toContainText('experiments/scenarios.py:322');
  await page.getByRole('tab', { name: /Findings/ }).focus();
  // The verdict's first line comes first, and leads to what it is about.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(findings.getByRole('heading', { name: 'What to try' })).toBeVisible();
  await page.getByRole('button', { name: 'Copy all findings as Markdown' }).click();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toContain('# Findings in oom\\_fragmented.pickle.gz');
  expect(text).toContain('scenarios.py:323');
  expect(text).toContain('| no-grad | can');
});

test('says calmly that nothing was found, and what was checked', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  const findings = findingsOf(page);
  await expect(findings).toContainText('No out-of-memory error, and no problem found.');
  const checks = findings.getByRole('list', { name: 'Checks' });
  await expect(checks).toBeHidden();
  await findings.getByText('What was checked').click();
  await expect(
    checks.getByRole('listitem').filter({ hasText: /^Tensors that a program keeps/ }),
  ).toContainText('Clear');
});

test('reads an error message without any snapshot', async ({ page }) => {
  await page.goto('/');
  await page.getByText('Only have the error message?').click();
  const box = page.getByRole('textbox', { name: /Paste the whole message/ });
  await box.fill(
    'CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 19.40 GiB already allocated; 512.00 MiB free; 22.10 GiB reserved in total by PyTorch)',
  );
  const main = page.getByRole('main');
  await expect(main).toContainText('Out of memory: memory is fragmented');
  await expect(main).toContainText('reserved 22.10 GiB − in use 19.40 GiB = 2.70 GiB free');
  await expect(main).toContainText('_record_memory_history');
  await box.fill(
    'Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 6.89 GiB\nRequested               : 320.00 MiB\nDevice limit            : 23.69 GiB\nFree (according to CUDA): 2.94 MiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB',
  );
  await expect(main).toContainText('320.00 MiB was requested, and the GPU had 2.94 MiB free.');
  await expect(main).toContainText('--disable-cuda-malloc');
  await box.fill('NCCL error: unhandled system error');
  await expect(main).toContainText('This isn’t a PyTorch out-of-memory message.');
  await box.fill('CUDA out of memory. Tried to allocate 2.00 GiB');
  await expect(main).toContainText('it does not say how much PyTorch had allocated');
});

test('an error that the program caught is no green check, and no contradiction', async ({
  page,
}) => {
  await openCapture(page, 'pairs/oom_caught_and_halved.all.pickle.gz');
  const verdict = findingsOf(page).getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText(
    'Out of memory, caught 2 times: one request of 500.00 MiB did not fit',
  );
  await expect(verdict).toHaveAttribute('data-tone', 'warning');
  await expect(page.getByRole('tab', { name: /Findings/ })).toHaveText('Findings3');
});

test('what a ring has lost is said the same in the header and in the verdict', async ({ page }) => {
  await openCapture(page, 'train_ring_truncated.pickle.gz');
  await expect(summaryOf(page)).toContainText("Out of memorycan't tell");
  await expect(findingsOf(page)).toContainText("we can't tell whether memory ran out before");
});

test('requests that were retried are no OOMs, wherever they are told', async ({ page }) => {
  await openCapture(page, 'near-miss/cudnn_tries_workspaces.pickle.gz');
  await idle(page);
  const stat = summaryOf(page).getByRole('button', { name: /^Out of memory/ });
  await expect(stat).toContainText('once');
  await expect(stat).toHaveAttribute(
    'title',
    /4,294,967,296 bytes requested; .*; 11 other requests were retried$/,
  );
  await expect(findingsOf(page)).toContainText('11 requests failed and were retried at once');
  await page.getByRole('button', { name: 'Jump to' }).click();
  await expect(page.getByRole('button', { name: /^Out of memory, \d/ })).toHaveCount(0);
});
