/** The results as Markdown tables, each figure beside its budget. */
import { table } from '../scripts/markdown.mjs';

const seconds = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(2)} s`);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
const milliseconds = (ms) => `${ms.toFixed(1)} ms`;

/** Formats a value, or says that it was not measured. */
const shown = (value, format) => (value === undefined ? 'not measured' : format(value));

/** p50 / p95 of a result of framesOf. */
const frames = ({ frames: count, p50Ms, p95Ms }) =>
  `${shown(p50Ms, milliseconds)} / ${shown(p95Ms, milliseconds)} (${count} frames)`;

/** @param {readonly number[]} tasksMs of the main thread */
function longTasks(tasksMs) {
  const long = tasksMs.filter((ms) => ms > 50);
  return long.length === 0 ? 'none' : `${long.length}, the longest ${seconds(Math.max(...long))}`;
}

/** '12 / 31 ms (30)': median, longest and count; a single time as it is. */
function spread(times) {
  if (times === undefined || times.length === 0) return 'not measured';
  const sorted = [...times].sort((a, b) => a - b);
  if (sorted.length === 1) return seconds(sorted[0]);
  const middle = sorted[Math.floor(sorted.length / 2)];
  return `${middle.toFixed(0)} / ${sorted.at(-1).toFixed(0)} ms (${sorted.length})`;
}

const OPENING = {
  '1 MB': '0.3 s',
  '20 MB': '0.4 s',
  '513 MB': "0.12 of pickle.load's",
  '2 GB': 'opens, linear in events',
};
const WHAT_IF = { '513 MB': '8 s' };
const FINDINGS = { '513 MB': '2 s' };
const COMPARE = { '513 MB': '1.5 s' };
const MEMORY = { '513 MB': '420 MB / 650 MB', '2 GB': '– / 2.0 GB' };

/** @param {any} results what run.mjs wrote */
export function resultsTable(results) {
  const { machine, pageWeightBytes, ranksPage, ratios, subjects } = results;
  const rows = subjects.flatMap((subject) => [
    ...(subject.page ? pageRows(subject) : []),
    ...(subject.firstPicture ? firstPictureRows(subject) : []),
    ...(subject.decoders ? decoderRows(subject) : []),
    ...(subject.cli ? cliRows(subject) : []),
    ...compareRows(subject),
    subject.ranks && [
      `eight of ${subject.name}: vramscope ranks`,
      '3 s',
      seconds(subject.ranks.readMs),
    ],
  ]);
  const jobs = '1,024 summaries of ranks (64 MB): files given → all on screen';
  rows.push(ranksPage && [jobs, '2 s', seconds(ranksPage.shownMs)], [
    'page: JS and CSS before a file is opened, gzipped',
    '150 kB',
    shown(pageWeightBytes, kilobytes),
  ]);
  const views = subjects.filter(({ page }) => page?.views).map(viewsTable);
  const beside = (ratios ?? []).map(ratiosTable);
  return [
    machine,
    ...beside,
    table(['what', 'budget', 'measured'], rows.filter(Boolean)),
    ...views,
  ].join('\n\n');
}

/** One file beside CPython, whose own time varies from hour to hour. */
function ratiosTable({ name, goals, rounds, startLoad, endLoad, ...medians }) {
  const row = (what, key) => {
    const ms = medians[key];
    return [what, goals[key] ?? '–', (ms / medians.pickleLoad).toFixed(3), seconds(ms)];
  };
  const rows = [
    row('the page: every allocation painted', 'painted'),
    row('the page: first pixels', 'firstPixels'),
    row('vramscope stats', 'stats'),
    row('vramscope analyze', 'analyze'),
    row("CPython's pickle.load", 'pickleLoad'),
  ];
  const head = [name, 'goal', "of pickle.load's time", 'median'];
  const load = `load average ${startLoad.toFixed(1)} before, ${endLoad.toFixed(1)} after`;
  return `${table(head, rows)}\n\nMedians of ${rounds} rounds, in turn; ${load}.`;
}

/** Two files of that size. `compare` and `comparePage` are present if measured. */
function compareRows({ name, compare, comparePage }) {
  const page = comparePage && [
    `${name}, twice: both read → the difference on screen`,
    COMPARE[name] ?? '–',
    seconds(comparePage.differenceMs),
  ];
  const cli = compare && [
    `${name}, twice: vramscope compare, against stats of one`,
    '1.2 times',
    `${compare.ratio.toFixed(2)} times (${seconds(compare.twoMs)})`,
  ];
  return [page, cli];
}

function pageRows({ name, page }) {
  if (page.failure) return [[`${name}: the page`, OPENING[name], `failed: ${page.failure}`]];
  const { marks, soonBytes, restBytes, peakBytes, zoomMeanwhile, zoom, pan, longTasksMs } = page;
  return [
    [`${name}: file given → every allocation painted`, OPENING[name], seconds(marks.painted)],
    marks.firstPixels !== undefined && [
      `${name}: file given → first pixels of it`,
      '0.5 s',
      seconds(marks.firstPixels),
    ],
    [
      `${name}: painted → every finding, while one zooms`,
      FINDINGS[name] ?? '–',
      shown(marks.analysed, (ms) => seconds(ms - marks.painted)),
    ],
    [
      `${name}: a zoom frame meanwhile, input to pixels, p50 / p95`,
      '– / 16 ms',
      frames(zoomMeanwhile),
    ],
    [
      `${name}: private memory of the tab, at rest (10 s after the last work) / at its peak`,
      MEMORY[name] ?? '–',
      `${shown(restBytes, megabytes)} (${shown(soonBytes, megabytes)}) / ${shown(peakBytes, megabytes)}`,
    ],
    [`${name}: a zoom frame, input to pixels, p50 / p95`, '– / 16 ms', frames(zoom)],
    [`${name}: a pan frame, input to pixels, p50 / p95`, '– / 16 ms', frames(pan)],
    [`${name}: tasks over 50 ms on the main thread while it opens`, 'none', longTasks(longTasksMs)],
    ...(page.whatIf ? whatIfRows(name, page.whatIf) : []),
  ];
}

/** The median and worst of several runs. */
function firstPictureRows({ name, firstPicture: { waitingMs, secondMs, linkMs } }) {
  return [
    [`${name}: given to a page that waited 5 s → painted`, '0.1 s', spread(waitingMs)],
    [`${name}: given as a second file → painted`, '0.1 s', spread(secondMs)],
    [`${name}: navigation to \`?snapshot=\` on loopback → painted`, '0.8 s', spread(linkMs)],
  ];
}

function whatIfRows(name, { settingsMs, cardsMs, longTasksMs }) {
  return [
    [
      `${name}: ten settings run again, then their smallest cards`,
      WHAT_IF[name] ?? '–',
      `${seconds(settingsMs)}, ${seconds(cardsMs)}`,
    ],
    [`${name}: tasks over 50 ms on the main thread meanwhile`, 'none', longTasks(longTasksMs)],
  ];
}

function decoderRows({ name, bytes, decoders }) {
  const cell = (run) =>
    run.failure
      ? run.failure
      : `${seconds(run.decodeMs)}, ${(bytes / 1000 / run.decodeMs).toFixed(0)} MB/s, peak ${shown(run.peakBytes, megabytes)}`;
  const own = decoders.vramscope;
  return [
    [`${name}: decoding in Node`, '–', cell(own)],
    [
      `${name}: replaying it in Node`,
      '–',
      own.failure ?? `${seconds(own.replayMs)}, ${own.anomalies} anomalies`,
    ],
    [`${name}: pickleparser`, '–', cell(decoders.pickleparser)],
    [`${name}: CPython's pickle.load`, '–', cell(decoders.cpython)],
  ];
}

/** Small files finish before Node has started, so the budget applies to large ones. */
const CLI_BUDGET_FROM_BYTES = 100e6;

function cliRows({ name, bytes, cli, decoders }) {
  const { cpython } = decoders;
  const budget = bytes < CLI_BUDGET_FROM_BYTES ? '–' : '1/8 of the time and memory of pickle.load';
  if (cli.failure) return [[`${name}: vramscope stats`, budget, `failed: ${cli.failure}`]];
  const share = (own, other) => (own && other ? ` (${((own / other) * 100).toFixed(0)} %)` : '');
  const time = seconds(cli.wallMs) + share(cli.wallMs, cpython.wallMs);
  const memory = shown(cli.peakBytes, megabytes) + share(cli.peakBytes, cpython.peakBytes);
  return [[`${name}: vramscope stats, time and memory`, budget, `${time}, ${memory}`]];
}

const HEAD = [
  'what',
  'budget',
  'in the page: input to pixels, p50 / longest',
  'tasks over 50 ms on the main thread',
];

/** The budgets are for 5.7 million events; smaller files meet them if that one does. */
const FRAME = '16 ms (p95)';

/** @param {any} subject of the results, with views */
function viewsTable({ name, page }) {
  const { views, viewsMemory, whatIfMemory } = page;
  if (views.failure) return `**${name}, the views**: failed: ${views.failure}`;
  const { opening, again, addresses, segments, state, flame } = views;
  const rows = [
    ...Object.entries(opening).map(([label, step]) => stepsRow(`open: ${label}`, '–', [step])),
    stepsRow('open: each of them again', '–', Object.values(again)),
    ...plotRows('address map', addresses),
    ...plotRows('segments', segments),
    stepsRow('state: an event on', '30 ms', state.steps),
    stepsRow('state: to an event far away', '30 ms', state.jumps),
    stepsRow('flame graph: at the peak, by stack', '300 ms', flame.byStack),
    stepsRow('flame graph: the same from callees, then by function', '300 ms', flame.inverted),
    stepsRow('flame graph: other sets and weights', '300 ms', flame.others),
    stepsRow('events: filter', '300 ms', views.filter),
    stepsRow('allocations: sort', '–', views.sort),
    stepsRow('search: words, after 150 ms in which nobody typed', '350 ms', views.search.words),
    stepsRow('search: regexes, likewise', '350 ms', views.search.regexes),
  ];
  const memory = [
    `Private memory of the tab at rest: ${shown(viewsMemory.restBytes, megabytes)} after all of`,
    `that, ${shown(viewsMemory.peakBytes, megabytes)} at its peak;`,
    `${shown(whatIfMemory.restBytes, megabytes)} after ten what-if settings,`,
    `${shown(whatIfMemory.peakBytes, megabytes)} at their peak.`,
  ];
  return `**${name}, the views**\n\n${table(HEAD, rows)}\n\n${memory.join(' ')}`;
}

const stepsRow = (what, budget, steps) => [
  what,
  budget,
  spread(steps.map(({ ms }) => ms)),
  longTasks(steps.map(({ longestTaskMs }) => longestTaskMs)),
];

function plotRows(what, { zoom, pan, longTasksMs }) {
  return [
    [`${what}: a zoom frame, p50 / p95`, FRAME, frames(zoom), '–'],
    [`${what}: a pan frame, p50 / p95`, FRAME, frames(pan), longTasks(longTasksMs)],
  ];
}
