/** The views' times as a table: from input to pixels in the page. */
import { table } from '../scripts/markdown.mjs';
import { frames, longTasks, megabytes, shown, spread } from './result-words.mjs';

const HEAD = [
  'what',
  'budget',
  'in the page: input to pixels, p50 / longest',
  'tasks over 50 ms on the main thread',
];

/** The budgets are for 5.7 million events; smaller files meet them if that one does. */
const FRAME = '16 ms (p95)';

/** @param {any} subject of the results, with views */
export function viewsTable({ name, page }) {
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
    stepsRow(
      'search: words, 150 ms of waiting for the typing to end among it',
      '350 ms',
      views.search.words,
    ),
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

function stepsRow(what, budget, steps) {
  const times = steps.map(({ ms }) => ms);
  return [what, budget, spread(times), tasksOf(steps)];
}

function plotRows(what, { zoom, pan, longTasksMs }) {
  return [
    [`${what}: a zoom frame, p50 / p95`, FRAME, frames(zoom), '–'],
    [`${what}: a pan frame, p50 / p95`, FRAME, frames(pan), longTasks(longTasksMs)],
  ];
}

const tasksOf = (steps) => longTasks(steps.map(({ longestTaskMs }) => longestTaskMs));
