/**
 * `node scripts/whatif-table.mjs`: reruns the nine workloads of fixtures/whatif.truth.json under every setting with
 * the built command line, and rewrites the tables of docs/whatif.md: what a real GPU reserved, and how far off we
 * are. For the timing-sensitive workload, it also says what it reserved alone. The two of fixtures/settings/ were
 * recorded under four settings, and each recording is simulated under all four. Needs `npm run build` first.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceBetween, table } from './markdown.mjs';
import { ROOT } from './run-command.mjs';

const DOC = join(ROOT, 'docs', 'whatif.md');
const inMiB = (bytes) => (bytes / 2 ** 20).toFixed(0);

const readTruth = (name) => JSON.parse(readFileSync(join(ROOT, 'fixtures', name), 'utf8'));

const cells = cellsOf('whatif.truth.json');
const TABLES = {
  accuracy: tablesOf(cells),
  'segment-sizes': tableOfSegmentSizes(),
  'segment-runs': tablesOf(cellsOf('whatif-segments.truth.json')),
  alone: tableOfRunsAlone(),
};
const doc = Object.entries(TABLES).reduce(
  (text, [name, content]) => replaceBetween(text, name, content),
  readFileSync(DOC, 'utf8'),
);
writeFileSync(DOC, doc);

/** One cell per workload and setting of a truth file. */
function cellsOf(file) {
  return Object.entries(readTruth(file).workloads).flatMap(
    ([workload, { limit_bytes, settings }]) => compare(workload, limit_bytes, settings),
  );
}

function compare(workload, limitBytes, settings) {
  const names = Object.keys(settings);
  const cases = simulate(workload, limitBytes, names);
  return names.map((name, i) => ({ workload, name, real: settings[name], simulated: cases[i] }));
}

/** @param capture a file of fixtures/, without its extension */
function simulate(capture, limitBytes, names) {
  const args = ['whatif', join(ROOT, 'fixtures', `${capture}.pickle.gz`), '--json'];
  for (const name of names) args.push('--setting', name);
  args.push('--limit', limitBytes === null ? 'none' : String(limitBytes));
  const run = spawnSync(process.execPath, [join(ROOT, 'bin/vramscope.mjs'), ...args]);
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return JSON.parse(run.stdout.toString()).devices[0].cases;
}

function reservedOff({ real, simulated }) {
  return simulated.peakReservedBytes / real.peak_reserved_bytes - 1;
}

function allocatedOff({ real, simulated }) {
  return simulated.peakAllocatedBytes / real.peak_allocated_bytes - 1;
}

function settingText(name) {
  return name === '' ? '(default)' : `\`${name}\``;
}

function summary(cells) {
  const worst = Math.max(...cells.map((cell) => Math.abs(allocatedOff(cell))));
  const within = (offBy, share) => (cell) => Math.abs(offBy(cell)) <= share;
  const right = {
    'peak reserved equal to the byte': within(reservedOff, 0),
    'peak reserved within 0.5%': within(reservedOff, 0.005),
    'peak reserved within 3%': within(reservedOff, 0.03),
    'peak allocated equal to the byte': within(allocatedOff, 0),
    [`peak allocated within 0.5% (worst ${(100 * worst).toFixed(3)}%)`]: within(
      allocatedOff,
      0.005,
    ),
    'out of memory or not': ({ real, simulated }) => real.num_ooms > 0 === simulated.ooms > 0,
    retries: ({ real, simulated }) => real.num_alloc_retries === simulated.retries,
  };
  const rows = Object.entries(right).map(([what, isRight]) => [what, cells.filter(isRight).length]);
  return table([`of ${cells.length} runs`, 'right'], rows);
}

/** How many are right, then a row for each workload and setting: 'real' and 'simulated' in MiB. */
function tablesOf(cells) {
  const rows = cells.map((cell) => {
    const { workload, name, real, simulated } = cell;
    const off = reservedOff(cell);
    const difference = off === 0 ? 'equal' : `${off > 0 ? '+' : ''}${(100 * off).toFixed(2)}%`;
    const reserved = [real.peak_reserved_bytes, simulated.peakReservedBytes].map(inMiB);
    return [workload, settingText(name), ...reserved, difference];
  });
  const head = ['workload', 'setting', 'real peak, MiB', 'simulated', 'difference'];
  return [summary(cells), '', table(head, rows)].join('\n');
}

/** The timing-sensitive workload, with the GPU to itself: four runs under each setting. */
function tableOfRunsAlone() {
  const { workload, settings } = readTruth('whatif-alone.truth.json');
  const rows = Object.entries(settings).map(([name, runs]) => {
    const cell = cells.find((one) => one.workload === workload && one.name === name);
    const { real, simulated } = cell;
    const peaks = [runs.map(inMiB).join(', '), inMiB(simulated.peakReservedBytes)];
    return [settingText(name), inMiB(real.peak_reserved_bytes), ...peaks];
  });
  const head = ['setting', 'beside other runs, MiB', 'alone, four times', 'simulated'];
  return table(head, rows);
}

/** A row for each workload and setting: the real peak, and the simulated ones from each recording. */
function tableOfSegmentSizes() {
  const names = [
    '',
    'large_segment_size_mb:12',
    'large_segment_size_mb:64',
    'expandable_segments:True,large_segment_size_mb:64',
  ];
  const folderOf = (name) => (name === '' ? '' : `settings/${name.replaceAll(/[:,]/g, '_')}/`);
  const rows = ['train_gpt_small', 'kv_cache_generate'].flatMap((workload) => {
    const captures = names.map((name) => `${folderOf(name)}${workload}`);
    const fromEach = captures.map((capture) => simulate(capture, null, names));
    return names.map((name, to) => {
      const real = readTruth(`${captures[to]}.truth.json`).stats[0]['reserved_bytes.all.peak'];
      const peaks = fromEach.map((cases) => cases[to].peakReservedBytes);
      const equal = peaks.filter((bytes) => bytes === real).length;
      const simulated = [...new Set(peaks)].map(inMiB).join(', ');
      const row = [workload, settingText(name), inMiB(real), simulated];
      return [...row, `${equal} of ${peaks.length}`];
    });
  });
  const equal = 'equal, of the four recordings';
  return table(['workload', 'run under', 'real peak, MiB', 'simulated', equal], rows);
}
