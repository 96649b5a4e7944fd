/**
 * Makes the trace of a parsed snapshot longer by repeating its steady window. Nothing is copied:
 * the list of events yields the same nodes again and again, each time with later times and with
 * those objects forgotten by the pickler's memo that a longer recording would have anew.
 */
import { field } from './pickle-nodes.mjs';
import { findSteadyWindow } from './steady-window.mjs';

/**
 * @param {import('./pickle-nodes.mjs').Node} snapshot with one device; changed in place, to be
 *   written once
 * @param {number} eventCount at least so many, to the next whole repetition
 * @returns {{eventCount: number, windowEvents: number, repetitions: number}}
 * @throws when it has several devices or no steady window
 */
export function repeatWindow(snapshot, eventCount) {
  const traces = field(snapshot, 'device_traces').value;
  if (traces.length !== 1)
    throw new Error(`A snapshot of one device is needed, not ${traces.length}`);
  const [trace] = traces;
  const events = trace.value;
  const { from, to } = findSteadyWindow(events);
  const repetitions = 1 + Math.max(0, Math.ceil((eventCount - events.length) / (to - from)));
  const startUs = field(events[from], 'time_us').value;
  const endUs = field(events[to] ?? events[to - 1], 'time_us').value + (to < events.length ? 0 : 1);
  const times = { startUs, endUs, repetitions };

  const ownNodes = firstWrittenIn(snapshot, events, from, to);
  const cut = {
    before: events.slice(0, to),
    window: events.slice(from, to),
    after: events.slice(to),
  };
  trace.value = new RepeatedList(cut, ownNodes, times);
  repeatAnnotations(snapshot, times);
  return { eventCount: trace.value.length, windowEvents: to - from, repetitions };
}

function repeatAnnotations(snapshot, times) {
  const annotations = field(snapshot, 'external_annotations');
  if (!annotations) return;
  const within = (from, to) =>
    annotations.value.filter((item) => {
      const timeUs = field(item, 'time_us').value;
      return timeUs >= from && timeUs < to;
    });
  const { startUs, endUs } = times;
  const window = within(startUs, endUs);
  const cut = { before: within(0, endUs), window, after: within(endUs, Number.POSITIVE_INFINITY) };
  // Here all that a dictionary holds alone is new each time, its keys too: CPython builds them so.
  const ownNodes = window.flatMap((item) => [item, ...item.value.filter(isUsedOnce)]);
  annotations.value = new RepeatedList(cut, ownNodes, times);
}

/** Dictionaries with a time, the window among them `repetitions` times over. */
class RepeatedList {
  #cut;
  #ownNodes;
  #times;

  constructor(cut, ownNodes, times) {
    this.#cut = cut;
    this.#ownNodes = ownNodes;
    this.#times = times;
    const { before, window, after } = cut;
    this.length = before.length + window.length * (times.repetitions - 1) + after.length;
  }

  *[Symbol.iterator]() {
    const { before, window, after } = this.#cut;
    const { startUs, endUs, repetitions } = this.#times;
    yield* before;
    for (let i = 1; i < repetitions; i++) {
      for (const item of this.#ownNodes) item.memo = -1;
      for (const item of window) yield later(item, endUs - startUs);
    }
    for (const item of after) yield later(item, (repetitions - 1) * (endUs - startUs));
  }
}

function later(item, deltaUs) {
  const time = field(item, 'time_us');
  if (time) time.value += deltaUs;
  return item;
}

const isUsedOnce = (item) => item.uses === 1;

/**
 * What a longer recording would hold anew at each repetition: the events, the strings and tuples
 * that only they hold, and the frame lists first met there. Frames themselves are made once each.
 */
function firstWrittenIn(snapshot, events, from, to) {
  const known = new Set(frameListsOf(field(snapshot, 'segments')));
  for (const event of events.slice(0, from)) known.add(field(event, 'frames'));
  return events.slice(from, to).flatMap((event) => {
    const parts = event.value.filter((item) =>
      item.kind === 'list' ? !known.has(item) : isUsedOnce(item),
    );
    return [event, ...parts];
  });
}

function frameListsOf(segments) {
  return segments.value.flatMap((segment) => [
    field(segment, 'frames'),
    ...field(segment, 'blocks').value.map((block) => field(block, 'frames')),
  ]);
}
