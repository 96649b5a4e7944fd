/** Names of variables: in a file of their own, and as the boxes of the flame graph. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { unpickle } from '../src/testing/unpickle.ts';
import { chooseFile, fixture, idle } from './viewer.ts';

const plain = (_: string, part: unknown) => {
  if (part instanceof Map) return Object.fromEntries(part);
  return typeof part === 'bigint' ? Number(part) : part;
};

test('a snapshot and its names open as one file: the verdict says which variable holds it', async ({
  page,
}) => {
  const bytes = gunzipSync(readFileSync(fixture('record/holders.pickle.gz')));
  const { holders, ...bare } = JSON.parse(JSON.stringify(unpickle(bytes), plain));
  const file = (name: string, value: unknown) => ({
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(value)),
  });
  await page.goto('/');
  await page
    .getByTestId('file-input')
    .first()
    .setInputFiles([file('run.holders.json', holders), file('run.json', bare)]);
  await expect(page.locator('.file-name')).toHaveText('run.json');
  const verdict = page.getByRole('status', { name: 'Verdict' });
  await expect(verdict).toContainText("losses in main()['train']");
  await idle(page);
});

test('the flame graph by variable: its parts, what has no name, and a link that keeps the choice', async ({
  page,
}) => {
  const rows = page.getByRole('row').filter({ has: page.getByRole('gridcell') });
  const chosen = page.getByRole('region', { name: 'Chosen frame' });
  const by = page.getByRole('combobox', { name: 'by', exact: true });
  const names = 'record/holders.pickle.gz';
  await page.goto('/#v=1&view=flame-graph&flame=end');
  await chooseFile(page, fixture(names));
  await by.selectOption('variable');
  await expect(page.getByLabel('Colors')).toContainText('saved by autograd');
  await expect(page.getByRole('combobox', { name: 'Frames' })).toHaveCount(0);
  await expect(rows.filter({ hasText: 'no name' })).toContainText('MiB');
  await rows.first().click();
  await expect(chosen).toContainText("the graph of losses in main()['train']");
  const held = await chosen.locator('.frame-strip-figures span').first().textContent();
  await chosen.getByRole('button', { name: 'Filter to this' }).click();
  const total = page.getByText(/Live at the end.* that match the search/);
  await expect(total).toContainText(`${held}`);

  const open = async (query: string, file: string) => {
    await page.goto(`/#v=1&view=flame-graph&by=holder${query}`);
    await page.reload();
    await chooseFile(page, fixture(file));
  };

  await test.step('a link keeps the choice; at another moment the page says what names are', async () => {
    await open('&flame=cursor&at=300', names);
    await expect(by).toHaveValue('holder');
    await expect(page.getByText('what had been freed by then has none')).toBeVisible();
  });

  await test.step('a file without names says so, and shows lines', async () => {
    await open('', 'leak_output_list.pickle.gz');
    await expect(by).toHaveValue('line');
    const option = by.getByRole('option', { name: /This file has no names of variables/ });
    await expect(option).toBeDisabled();
    await idle(page);
  });
});
