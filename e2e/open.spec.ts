import { expect, test } from '@playwright/test';
import {
  chooseFile,
  fixture,
  idle,
  longFile,
  openCapture,
  plotOf,
  searchOf,
  summaryOf,
  unzipped,
} from './viewer.ts';

test('explains itself, reads an error message, and opens a sample with one click', async ({
  page,
}) => {
  await page.goto('/');
  await expect(page.getByTestId('drop-zone')).toBeVisible();
  await expect(page.getByText('Nothing leaves your machine')).toBeVisible();
  await page.getByText('Only have the error message?').click();
  await page.getByRole('textbox', { name: /Paste the whole message/ }).fill('NCCL error');
  await expect(page.getByRole('main')).toContainText('This isn’t a PyTorch out-of-memory message.');
  await page.getByRole('list').getByRole('button').first().click();
  await expect(page.getByTestId('timeline')).toBeVisible();
  await idle(page);
  expect(await page.evaluate(() => window.vramscope?.marks())).toMatchObject({
    painted: expect.any(Number),
  });
});

const FORMS = [
  { what: 'a bare pickle', file: unzipped('train_gpt_small.pickle.gz'), peak: '1.26 GiB' },
  { what: 'protocol 0', file: 'protocols_p0.pickle.gz', peak: '68.52 MiB' },
  { what: 'gzip', file: 'train_gpt_small.pickle.gz', peak: '1.26 GiB' },
  { what: 'the HTML of trace_plot', file: 'protocols_trace_plot.html.gz', peak: '68.52 MiB' },
  { what: 'zstd', file: 'protocols.pickle.zst', peak: '68.52 MiB' },
  { what: 'protocol 5', file: 'protocols_p5.pickle.gz', peak: '68.52 MiB' },
];

test('opens every form of a file, one after the other', async ({ page }) => {
  await page.goto('/');
  await test.step('files dropped on the empty page', async () => {
    const bytes = unzipped('train_annotated.pickle.gz').buffer.toString('base64');
    const data = await page.evaluateHandle((base64) => {
      const transfer = new DataTransfer();
      const content = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      transfer.items.add(new File([content], 'dropped.pickle'));
      return transfer;
    }, bytes);
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
    await expect(page.getByTestId('timeline')).toBeVisible();
    await expect(page.getByText('dropped.pickle').first()).toBeVisible();
  });

  for (const { what, file, peak } of FORMS) {
    const name = typeof file === 'string' ? file : file.name;
    await chooseFile(page, typeof file === 'string' ? fixture(file) : file);
    await expect(page.getByText(`${name} is open`), what).toBeAttached();
    await expect(page.getByTestId('timeline'), what).toBeVisible();
    await expect(summaryOf(page).getByText(peak).first(), what).toBeVisible();
  }
});

test('says when the address in ?snapshot= does not exist', async ({ page }) => {
  await page.goto('/?snapshot=samples/none.pickle');
  await expect(page.getByTestId('error')).toBeVisible();
  await expect(page.getByTestId('drop-zone')).toBeVisible();
});

test('says what a file lacks: all events, everything, or the early events', async ({ page }) => {
  await page.goto('/');
  await chooseFile(page, fixture('no_history.pickle.gz'));
  await expect(page.getByRole('heading', { name: /No history was recorded/ })).toBeVisible();
  await summaryOf(page)
    .getByRole('button', { name: /Figures|notes?$/ })
    .click();
  await expect(
    summaryOf(page)
      .getByText(/652.00 MiB/)
      .last(),
  ).toBeVisible();
  await chooseFile(page, fixture('empty.pickle.gz'));
  await expect(page).toHaveTitle(/empty/);
  await expect(page.getByTestId('error')).toHaveCount(0);
  await expect(page.getByText(/nothing was|no trace|empty/i).first()).toBeVisible();
  await chooseFile(page, fixture('train_recorded_late.pickle.gz'));
  await expect(page.getByText(/began late/i).first()).toBeVisible();
});

test('switches between devices', async ({ page }) => {
  await openCapture(page, 'two_devices.pickle.gz');
  const devices = page.getByTestId('device-select');
  await expect(devices).toContainText('cuda:0 · 295 events');
  await expect(devices).toContainText('cuda:1 · 385 events');
  await expect(summaryOf(page).getByText('237.06 MiB').first()).toBeVisible();
  await devices.selectOption({ index: 0 });
  await idle(page);
  await expect(summaryOf(page).getByText('233.07 MiB').first()).toBeVisible();
  await expect(page).toHaveURL(/device=0/);
  await page.reload();
  await chooseFile(page, fixture('two_devices.pickle.gz'));
  await expect(summaryOf(page).getByText('233.07 MiB').first()).toBeVisible();
});

test('an opening can be cancelled, and another file can be opened', async ({ page }) => {
  await page.goto('/');
  // A response that never ends: the page is still reading when Cancel is pressed.
  await page.route('**/slow.pickle', () => undefined);
  await page.evaluate(() => window.history.replaceState(null, '', '?snapshot=slow.pickle'));
  await page.reload();
  await expect(page.getByTestId('progress')).toBeVisible();
  await page.getByTestId('cancel').click();
  await expect(page.getByTestId('progress')).toHaveCount(0);
  await expect(page.getByTestId('error')).toHaveCount(0);
  await chooseFile(page, fixture('train_annotated.pickle.gz'));
  await expect(page.getByTestId('timeline')).toBeVisible();
});

test('cancelling a second opening leaves the first file open, and it answers', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  await chooseFile(page, longFile());
  const progress = page.getByTestId('progress');
  await expect(progress).toContainText('Opening long.pickle.gz');
  await expect(progress).toContainText(/MB/);
  // The first file stays visible meanwhile.
  await expect(plotOf(page)).toBeVisible();
  await page.getByTestId('cancel').click();
  await expect(progress).toHaveCount(0);
  await expect(page.getByTestId('error')).toHaveCount(0);
  await expect(page.getByRole('banner')).toContainText('train_gpt_small.pickle.gz');
  await searchOf(page).fill('class:parameters');
  await expect(page.getByRole('search').getByText(/ at the cursor$/)).toBeVisible();
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(page.getByText('oom_fragmented.pickle.gz is open')).toBeAttached();
});

test('a second file replaces the first; one that fails does not', async ({ page }) => {
  await openCapture(page, 'train_gpt_small.pickle.gz');
  await chooseFile(page, {
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('hello'),
  });
  await expect(page.getByTestId('error')).toBeVisible();
  await expect(page.getByTestId('error')).toContainText('train_gpt_small.pickle.gz is still open');
  await expect(page.getByTestId('timeline')).toBeVisible();
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(page.getByTestId('error')).toHaveCount(0);
  await summaryOf(page).getByRole('button', { name: 'Figures' }).click();
  await expect(summaryOf(page).getByText('6.00 GiB').last()).toBeVisible();
});

test("a rank's file opens on the device that the rank used", async ({ page }) => {
  await openCapture(page, 'fleet/fsdp2_rank3.pickle.gz');
  const device = page.getByTestId('device-select');
  await expect(device.locator('option:checked')).toHaveText(/^cuda:3 · 24,129 events/);
  await expect(device.locator('option')).toHaveText([
    /^cuda:3 /,
    'cuda:0 · not used by this process',
    'cuda:1 · not used by this process',
    'cuda:2 · not used by this process',
  ]);
  await expect(summaryOf(page)).toContainText('517.98 MiB');
  await expect(page).not.toHaveURL(/device=/);
});
