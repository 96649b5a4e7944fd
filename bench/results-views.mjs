/** What was measured of the views, as a table: in the page, and the session's answer alone. */
import { table } from '../scripts/markdown.mjs';
import { frames, longTasks, megabytes, shown, spread } from './result-words.mjs';

const HEAD = [
  'what',
  'budget',
  'in the page: input to pixels, p50 / longest',
  'the answer alone, in Node',
  'tasks over 50 ms on the main thread',
];

/** The budgets are for 5.7 million events: smaller files are within them if that one is. */
const FRAME = '16 ms (p95)';

/** @param {any} subject of the results, with views */
export function viewsTable({ name, page, answers = {} }) {
  const { views, viewsMemory, whatIfMemory } = page;
  if (views.failure) return `**${name}, the views**: failed: ${views.failure}`;
  const { opening, again, addresses, segments, state, flame } = views;
  const rows = [
    ...Object.entries(opening).map(([label, step]) =>
      stepsRow(`open: ${label}`, '–', [step], answers.openMs?.[label]),
    ),
    stepsRow('open: each of them again', '–', Object.values(again)),
    [
      'classes: of all allocations, when first asked',
      '300 ms',
      '–',
      answer(answers.classesMs),
      '–',
    ],
    ...plotRows('address map', addresses, answers.addressFramesMs),
    ...plotRows('segments', segments, answers.segmentFramesMs),
    stepsRow('state: an event on', '30 ms', state.steps, answers.stateStepsMs),
    stepsRow('state: to an event far away', '30 ms', state.jumps, answers.stateJumpsMs),
    stepsRow('flame graph: at the peak, by stack', '300 ms', flame.byStack),
    stepsRow('flame graph: the same from callees, then by function', '300 ms', flame.inverted),
    stepsRow('flame graph: other sets and weights', '300 ms', flame.others, answers.flameMs),
    stepsRow('events: filter', '300 ms', views.filter, answers.eventFilterMs),
    stepsRow('allocations: sort', '–', views.sort, answers.sortMs),
    searchRow('search: words', views.search.words, answers.wordsMs),
    searchRow('search: regexes', views.search.regexes, answers.regexesMs),
  ];
  const memory = [
    `Private memory of the tab at rest: ${shown(viewsMemory.restBytes, megabytes)} after all of`,
    `that, ${shown(viewsMemory.peakBytes, megabytes)} at its peak;`,
    `${shown(whatIfMemory.restBytes, megabytes)} after ten what-if settings,`,
    `${shown(whatIfMemory.peakBytes, megabytes)} at their peak.`,
  ];
  return `**${name}, the views**\n\n${table(HEAD, rows)}\n\n${memory.join(' ')}`;
}

function stepsRow(what, budget, steps, answersMs) {
  const times = steps.map(({ ms }) => ms);
  return [what, budget, spread(times), answer(answersMs), tasksOf(steps)];
}

/** Without the wait for the typing to end. */
function searchRow(what, steps, answersMs) {
  const times = steps.map(({ askedMs }) => askedMs);
  return [what, '200 ms', spread(times), answer(answersMs), tasksOf(steps)];
}

function plotRows(what, { zoom, pan, longTasksMs }, answersMs) {
  return [
    [`${what}: a zoom frame, p50 / p95`, FRAME, frames(zoom), answer(answersMs), '–'],
    [`${what}: a pan frame, p50 / p95`, FRAME, frames(pan), '–', longTasks(longTasksMs)],
  ];
}

const answer = (times) => (times === undefined ? '–' : spread(times));

const tasksOf = (steps) => longTasks(steps.map(({ longestTaskMs }) => longestTaskMs));
