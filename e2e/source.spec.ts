import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import { addressOf, HOOK_LINE, serveWithCode } from './served.ts';
import { searchOf } from './viewer.ts';

test('from the verdict to the line: its memory, its text, and the editor', async ({ page }) => {
  const server = serveWithCode();
  try {
    await page.goto(await addressOf(server));
    const verdict = page.getByRole('status', { name: 'Verdict' });
    const dialog = page.getByRole('dialog', { name: 'capture.py' });

    const href = `vscode://file${HOOK_LINE}`;
    const opens = (editor: string) =>
      verdict.getByRole('link', { name: `Open capture.py:338 in ${editor}` });
    await test.step('one click opens the line: the program knows where the file is', async () => {
      await expect(opens('VS Code')).toHaveAttribute('href', href);
    });

    await test.step('names the statement that may hold what is kept', async () => {
      const held = page.getByText(/^May be held by .*capture\.py:338/);
      await expect(held).toContainText('features.append(output.detach().clone())');
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        const axe = new AxeBuilder({ page }).include('[data-testid=findings]').setLegacyMode();
        expect((await axe.analyze()).violations).toEqual([]);
      }
    });

    await test.step('shows each line with what it allocates and holds', async () => {
      await verdict.getByRole('button', { name: 'Lines of capture.py:338' }).click();
      const line = dialog.getByRole('row', { name: 'features.append(output.detach().clone())' });
      await expect(line).toHaveAttribute('aria-current', 'location');
      await expect(line).toBeInViewport();
      await expect(line.getByRole('cell').nth(2)).toHaveText('192.00 MiB');
    });

    await test.step('opens the line in the editor, where the file is on this machine', async () => {
      await dialog.getByLabel('Open lines in').selectOption('Cursor');
      await page.keyboard.press('Escape');
      await expect(dialog).toBeHidden();
      await expect(verdict.getByRole('button', { name: 'Lines of capture.py:338' })).toBeFocused();
      await page.reload();
      await expect(opens('Cursor')).toHaveAttribute('href', href.replace('vscode', 'cursor'));
    });

    await test.step('filters all views to a line', async () => {
      await verdict.getByRole('button', { name: 'Lines of capture.py:338' }).click();
      await dialog.getByRole('button', { name: '338', exact: true }).click();
      await expect(dialog).toBeHidden();
      await expect(searchOf(page)).toHaveValue('"/workspace/pairs/capture.py:338"');
    });
  } finally {
    server.kill();
  }
});
