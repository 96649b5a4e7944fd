/**
 * `npm run bench`: takes the measurements of docs/performance.md, prints them and writes .bench/results.json.
 *
 *   --small        only the small files: one or two minutes instead of fifteen
 *   --only page    only the page; or `node` (decoders, command line), or `ratios` (beside CPython)
 *   --docs         also updates the tables in docs/performance.md
 *   --against REF  only decoding and replaying, beside another commit; see against.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { replaceBetween } from '../scripts/markdown.mjs';
import { ROOT, runNpm } from '../scripts/run-command.mjs';
import { measureAgainst } from './against.mjs';
import { measureCompareCli, measureComparePage } from './measure-compare.mjs';
import { buildNodeBenches, measureCli, measureDecoders } from './measure-decoders.mjs';
import { measureFirstPicture } from './measure-first-picture.mjs';
import { measurePage, measurePageWeight, startBrowser } from './measure-page.mjs';
import { measureRanksCli, measureRanksPage } from './measure-ranks.mjs';
import { measureRatios } from './measure-ratios.mjs';
import { resultsTable } from './results-table.mjs';
import { BENCH_FOLDER, prepareSubjects } from './subjects.mjs';

const { values } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    only: { type: 'string' },
    against: { type: 'string' },
  },
});
const wants = (part) => values.only === undefined || values.only === part;

const subjects = prepareSubjects(values.small);
if (values.against !== undefined) {
  await measureAgainst(values.against, subjects);
  process.exit();
}
if ((await runNpm(['run', 'build'])) !== 0) throw new Error('The build failed');

const page = wants('page') ? await measureAllPages() : undefined;
const node = wants('node') ? await measureAllInNode() : undefined;
const ratios = wants('ratios') ? await measureAllRatios() : undefined;
const memoryGiB = (totalmem() / 2 ** 30).toFixed(0);
const results = {
  date: new Date().toISOString(),
  machine: `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memoryGiB} GiB, Node ${process.versions.node}, ${page?.browser ?? 'no browser'}.`,
  pageWeightBytes: page?.weightBytes,
  ranksPage: page?.ranks,
  ratios,
  subjects: subjects.map(({ name, bytes }, i) => ({
    name,
    bytes,
    page: page?.subjects[i],
    comparePage: page?.compared[i],
    firstPicture: i === 0 ? page?.firstPicture : undefined,
    ...node?.[i],
  })),
};
writeFileSync(join(BENCH_FOLDER, 'results.json'), `${JSON.stringify(results, undefined, 2)}\n`);
const tables = resultsTable(results);
console.log(`\n${tables}\n\nAll figures: .bench/results.json`);
const docs = join(ROOT, 'docs', 'performance.md');
if (values.docs) writeFileSync(docs, replaceBetween(readFileSync(docs, 'utf8'), 'results', tables));

async function measureAllPages() {
  const started = await startBrowser();
  try {
    const weightBytes = await measurePageWeight(started);
    const measured = [];
    const compared = [];
    for (const subject of subjects) {
      console.log(`The page, ${subject.name}`);
      measured.push(await measurePage(started, subject));
      if (subject.hasViews) compared.push(await measureComparePage(started, subject));
      else compared.push(undefined);
    }
    console.log('The page that waits, and links to a file');
    const firstPicture = await measureFirstPicture(started, subjects[0]);
    console.log('The page, 1,024 ranks');
    const ranks = await measureRanksPage(started);
    const browser = `Chromium ${started.browser.version()}`;
    return { browser, weightBytes, subjects: measured, compared, firstPicture, ranks };
  } finally {
    await started.close();
  }
}

async function measureAllRatios() {
  const ratios = [];
  const beside = subjects.filter(({ goals }) => goals !== undefined);
  if (beside.length === 0) return ratios;
  const started = await startBrowser();
  try {
    for (const subject of beside) {
      console.log(`${subject.name} beside CPython, in turn`);
      const measured = await measureRatios(started, subject);
      if (measured !== undefined) ratios.push(measured);
    }
    return ratios;
  } finally {
    await started.close();
  }
}

async function measureAllInNode() {
  await buildNodeBenches();
  const measured = [];
  for (const subject of subjects) {
    console.log(`Decoders and command line, ${subject.name}`);
    const decoders = await measureDecoders(subject);
    const compare = subject.hasViews ? await measureCompareCli(subject) : undefined;
    const ranks = subject.name === '20 MB' ? measureRanksCli(subject) : undefined;
    measured.push({ decoders, cli: await measureCli(subject), compare, ranks });
  }
  return measured;
}
