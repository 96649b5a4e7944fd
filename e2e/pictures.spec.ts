/**
 * The pictures of the README and docs show today's page: beside each stand the words of the page that it shows, and a
 * change of these fails here. `node scripts/make-pictures.mjs` takes them again, and so updates the words.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import { fixture, idle, onlyTheFile } from './viewer.ts';

interface Picture {
  readonly name: string;
  readonly files: readonly string[];
  readonly hash?: string;
  readonly height?: number;
  readonly prepare?: (page: Page) => Promise<void>;
}

const fleet = (files: RegExp): string[] =>
  readdirSync(fixture('fleet'))
    .filter((file) => files.test(file) && !file.includes('truth'))
    .map((file) => `fleet/${file}`);

/** Each case of the gallery is a capture of fixtures/others. others.test.ts compares its sentence, so here it is only taken. */
const GALLERY = readFileSync('docs/gallery.md', 'utf8');
const CASES =
  process.env.MAKE_PICTURES === undefined
    ? []
    : [...GALLERY.matchAll(/images\/gallery\/(\w+)-light\.png/g)].map(([, name]) => name);

const PICTURES: readonly Picture[] = [
  { name: 'timeline', files: ['oom_fragmented.pickle.gz'] },
  { name: 'addresses', files: ['oom_fragmented.pickle.gz'], hash: '#v=1&view=address-map' },
  { name: 'ranks', files: fleet(/^fsdp2_rank/), height: 640 },
  {
    name: 'ranks-heat',
    files: fleet(/^fsdp2_rank/),
    height: 640,
    prepare: (page) => page.getByRole('button', { name: 'Heat map' }).click(),
  },
  {
    name: 'ranks-pipeline',
    files: fleet(/^pipeline_rank/),
    height: 640,
    prepare: (page) => page.getByLabel('Group by role').check(),
  },
  ...CASES.map((name) => ({
    name: `gallery/${name}`,
    files: [`others/${name}.pickle.gz`],
    height: 680,
  })),
];

for (const { name, files, hash = '', height = 800, prepare } of PICTURES) {
  test(`the picture ${name} is of today's page`, async ({ page }, { config }) => {
    await page.setViewportSize({ width: 1280, height });
    await page.goto(`/${hash}`);
    await page.getByTestId('file-input').first().setInputFiles(files.map(fixture));
    const verdict = page.getByRole('status', { name: 'Verdict' });
    await verdict.waitFor();
    await prepare?.(page);
    if (files.length === 1) await onlyTheFile(page);
    await idle(page);
    await page.mouse.move(0, 0);
    const words = await page.getByRole('navigation', { name: 'Views' }).or(verdict).allInnerTexts();
    if (!name.startsWith('gallery/')) {
      expect(`${words.join('\n\n')}\n`).toMatchSnapshot(`${name}.txt`);
    }
    if (config.updateSnapshots !== 'all') return;
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await idle(page);
      await page.screenshot({ path: `docs/images/${name}-${colorScheme}.png` });
    }
  });
}
