/** The page in a frame of another origin, as docs/embedding.md describes it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { type StaticHost, staticHost } from './static-server.ts';
import { fixture } from './viewer.ts';

declare global {
  interface Window {
    told: Record<string, unknown>[];
    tellPage(message: object, files?: { name: string; base64: string }): void;
  }
}

/** A dashboard: a frame, the messages from it, and a way to send some. */
const dashboard = (frame: string) => `<!doctype html>
<iframe id="frame" src="${frame}" style="width: 1200px; height: 760px"></iframe>
<script>
  window.told = [];
  addEventListener('message', ({ data }) => { if (data.vramscope === 1) told.push(data); });
  window.tellPage = (message, file) => {
    const bytes = file && Uint8Array.from(atob(file.base64), (c) => c.charCodeAt(0));
    const given = file ? { blob: new Blob([bytes]), name: file.name } : {};
    document.getElementById('frame').contentWindow.postMessage({ vramscope: 1, ...message, ...given }, '*');
  };
</script>`;

let folder: string;
let host: StaticHost;

test.beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-embedder-'));
  host = await staticHost(folder);
});
test.afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true });
});

/** Opens a dashboard on its own origin, with the page in its frame. */
async function embed(page: Page, baseURL: string, embedder: string): Promise<void> {
  const frame = `${baseURL}/?embedder=${encodeURIComponent(embedder)}`;
  writeFileSync(join(folder, 'index.html'), dashboard(frame));
  await page.goto(host.url);
  await expect(page.frameLocator('#frame').getByTestId('drop-zone')).toBeVisible();
}

const toldOf = (page: Page, type: string) =>
  page.evaluate((wanted) => window.told.filter((message) => message.type === wanted), type);

const give = (page: Page, name: string, bytes: Buffer) =>
  page.evaluate((file) => window.tellPage({ type: 'open' }, file), {
    name,
    base64: bytes.toString('base64'),
  });

test('a dashboard opens a snapshot, goes to a view, and is told what is selected', async ({
  page,
  baseURL,
}) => {
  await embed(page, String(baseURL), new URL(host.url).origin);
  await expect.poll(() => toldOf(page, 'ready')).toHaveLength(1);
  await page.evaluate(() => window.tellPage({ type: 'view', hash: 'view=allocator-state' }));
  await expect
    .poll(() => toldOf(page, 'refused'))
    .toEqual([{ vramscope: 1, type: 'refused', message: 'No snapshot of yours is open.' }]);

  // Nor does it hear about a file that somebody else opens in the frame.
  const frame = page.frameLocator('#frame');
  await frame.getByTestId('file-input').first().setInputFiles(fixture('train_resnet.pickle.gz'));
  await expect(frame.getByTestId('timeline')).toBeVisible();
  await page.evaluate(() => window.tellPage({ type: 'view', hash: 'view=allocator-state' }));
  await expect.poll(() => toldOf(page, 'refused')).toHaveLength(2);
  const types = (await page.evaluate(() => window.told)).map(({ type }) => type);
  expect(types).toEqual(['ready', 'refused', 'refused']);

  await give(page, 'oom.pickle.gz', readFileSync(fixture('oom_fragmented.pickle.gz')));
  await expect
    .poll(() => toldOf(page, 'opened'))
    .toMatchObject([
      {
        name: 'oom.pickle.gz',
        devices: [{ device: 0, peakReservedBytes: 6_442_450_944, ooms: 1 }],
      },
    ]);
  await page.evaluate(() =>
    window.tellPage({ type: 'view', hash: 'view=allocations&select=b7f62a0000000_17' }),
  );
  await expect
    .poll(() => toldOf(page, 'selected'))
    .toMatchObject([{ allocation: { label: 'b7f62a0000000_17', blockBytes: 396_434_944 } }]);
  await expect(frame.getByRole('grid').first()).toBeVisible();
  await frame.getByTestId('view-tabs').getByRole('button', { name: 'Timeline' }).click();
  await page.evaluate(() => window.tellPage({ type: 'view', hash: '' }));
  await expect
    .poll(async () => (await toldOf(page, 'selected')).at(-1))
    .toMatchObject({ allocation: null });

  await give(page, 'photo.png', Buffer.from('89504e470d0a1a0a', 'hex'));
  await expect
    .poll(() => toldOf(page, 'failed'))
    .toMatchObject([{ name: 'photo.png', message: expect.stringContaining('PNG') }]);
});

test('a page that is not the embedder named in the address is ignored and gets no messages', async ({
  page,
  baseURL,
}) => {
  await embed(page, String(baseURL), 'https://dash.example.org');
  await give(page, 'oom.pickle.gz', readFileSync(fixture('oom_fragmented.pickle.gz')));
  // A person opens a file in the frame after everything that the page could have said before.
  const frame = page.frameLocator('#frame');
  await frame.getByTestId('file-input').first().setInputFiles(fixture('train_resnet.pickle.gz'));
  await expect(frame.getByTestId('timeline')).toBeVisible();
  await expect(frame.getByText('train_resnet.pickle.gz').first()).toBeVisible();
  expect(await page.evaluate(() => window.told)).toEqual([]);
});

test('an embedder that is not an origin is reported', async ({ page, baseURL }) => {
  await embed(page, String(baseURL), '*');
  await expect(page.frameLocator('#frame').getByText('is not an origin')).toBeVisible();
});
