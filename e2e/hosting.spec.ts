/** dist/ on a plain host under a path, under its own policy, without a network; and as one file. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { type StaticHost, staticHost } from './static-server.ts';
import { chooseFile, fixture, idle, plotOf, showView, summaryOf, tabsOf, VIEWS } from './viewer.ts';

declare global {
  interface Window {
    violations?: string[];
  }
}

test.use({ serviceWorkers: 'allow' });

let site: StaticHost;

test.beforeEach(async () => {
  site = await staticHost('dist', '/some/deep/path/');
});
test.afterEach(async ({ context }) => {
  // The next test uses the same context.
  await context.setOffline(false);
  await site.close();
});

/** URLs requested by the page and its workers, and what the policy forbade. */
async function watch(page: Page): Promise<{ requests: string[]; violations(): Promise<string[]> }> {
  const requests: string[] = [];
  page.context().on('request', (request) => requests.push(request.url()));
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => {
      window.violations?.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return { requests, violations: () => page.evaluate(() => window.violations ?? []) };
}

async function openSample(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Fragmentation/ }).click();
  await expect(plotOf(page)).toBeVisible();
  await idle(page);
}

test('every view works under a path and under the policy, and contacts nobody else', async ({
  page,
}) => {
  const { requests, violations } = await watch(page);
  await page.goto(site.url);
  await openSample(page);
  for (const name of VIEWS) {
    await showView(page, name);
    await idle(page);
    await expect(page.getByRole('alert')).toHaveCount(0);
  }
  expect(await violations()).toEqual([]);
  expect(requests.filter((url) => !url.startsWith(site.url) && !url.startsWith('blob:'))).toEqual(
    [],
  );
});

test('a link may name a snapshot elsewhere, and only that host can be reached', async ({
  page,
}) => {
  const elsewhere = await staticHost('fixtures', '/', { 'access-control-allow-origin': '*' });
  const third = await staticHost('fixtures', '/', { 'access-control-allow-origin': '*' });
  await page.goto(`${site.url}?snapshot=${elsewhere.url}cuda_graph_pool.pickle.gz`);
  await expect(plotOf(page)).toBeVisible();
  const isReached = (url: string) =>
    page.evaluate(
      (address) =>
        fetch(address).then(
          () => true,
          () => false,
        ),
      url,
    );
  expect(await isReached(`${elsewhere.url}empty.pickle.gz`)).toBe(true);
  expect(await isReached(`${third.url}empty.pickle.gz`)).toBe(false);
  await Promise.all([elsewhere.close(), third.close()]);
});

test('opens again without a network after the first visit', async ({ page, context }) => {
  await page.goto(site.url);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect
    .poll(() => page.evaluate(async () => (await caches.keys()).length))
    .toBeGreaterThan(0);
  await page.reload();
  await context.setOffline(true);
  await site.close();
  await page.reload();
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(page.getByTestId('findings')).toContainText('fragmented');
  await page.getByTestId('view-tabs').getByRole('button', { name: 'Flame' }).click();
  await idle(page);
  await expect(summaryOf(page)).toContainText('GiB');
});

test('says when a newer version is ready, and leaves the open snapshot alone', async ({ page }) => {
  await page.goto(site.url);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await openSample(page);
  const response = await page.request.get(`${site.url}sw.js`);
  site.replaced.set('sw.js', `${await response.text()}\n// newer`);
  // A new version is installed without the old one's parts, some of which were not yet needed.
  site.removed.add('assets/');
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.update());
  const bar = page.getByRole('complementary', { name: 'Update' });
  await expect(bar).toContainText('newer vramscope is ready');
  await expect(plotOf(page)).toBeVisible();
  await bar.getByRole('button', { name: 'Later' }).click();
  await expect(bar).toHaveCount(0);
  await expect(plotOf(page)).toBeVisible();
  for (const view of ['Flame', 'Events', 'What if']) {
    await tabsOf(page).filter({ hasText: view }).click();
    await expect(page.locator('#view-picture')).toHaveText(/\w/);
    await idle(page);
    await expect(page.getByRole('alert')).toHaveCount(0);
  }
});

const SINGLE = pathToFileURL(resolve('dist-single/vramscope.html')).href;

test('also works as one file, opened from disk, with its workers inside', async ({ page }) => {
  const { requests, violations } = await watch(page);
  await page.goto(SINGLE);
  await chooseFile(page, fixture('oom_fragmented.pickle.gz'));
  await expect(plotOf(page)).toBeVisible();
  await expect(page.getByTestId('findings')).toContainText('fragmented');
  expect(await violations()).toEqual([]);
  expect(requests.filter((url) => url !== SINGLE && !/^(blob|data):/.test(url))).toEqual([]);
});
