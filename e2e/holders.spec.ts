/** Variable names in a separate file, given together with the snapshot. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { unpickle } from '../src/testing/unpickle.ts';
import { fixture, idle } from './viewer.ts';

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
