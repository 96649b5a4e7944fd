/**
 * Asks the session what the views ask of it, without a browser, and prints how long each answer
 * took. In a process that has just started, as the page's worker has.
 */
import { createReadStream, statSync } from 'node:fs';
import type { AllocationKey } from '../src/device/lists/allocation-rows.ts';
import { DEFAULT_VIEW } from '../src/state/view-store.ts';
import { nodeClock } from '../src/testing/node-clock.ts';
import { ALL_EVENTS, eventChoice } from '../src/ui/views/events/event-filter.tsx';
import { flameBoxesQuery } from '../src/ui/views/flame-graph/flame-query.ts';
import { webPlatform } from '../src/worker/gunzip.ts';
import type { EventChoice } from '../src/worker/handlers/event-list.ts';
import type { FlameRequest } from '../src/worker/handlers/flame-graph.ts';
import { replayerHere } from '../src/worker/live/replayer.ts';
import type { OpenSource, SessionApi } from '../src/worker/protocol.ts';
import { createSession } from '../src/worker/session.ts';

const path = process.argv[2] ?? '';
const DEVICE = { deviceIndex: 0 };
const ROWS = { from: 0, to: 60 };
const STEPS = 30;
const JUMPS = 12;

const session: SessionApi = createSession({
  platform: webPlatform,
  clock: nodeClock,
  startReplayer: async () => replayerHere(),
  sourceOf: async () => ({
    name: path,
    size: statSync(path).size,
    chunks: () => createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Uint8Array>,
  }),
});
/** What is read is the file above: a Blob of Node would hold all of it. */
const source: OpenSource = { kind: 'blob', blob: new Blob(), name: path };
const { devices } = await session.open(source, {});
const [{ events = 0, peaks } = {}] = devices;
const peak = peaks?.activeBytes.event ?? 0;

/** Milliseconds of each answer, in the order asked. */
async function timesOf<T>(
  questions: readonly T[],
  ask: (question: T) => Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (const question of questions) {
    const startMs = performance.now();
    await ask(question);
    times.push(performance.now() - startMs);
  }
  return times;
}

const stateAt = (event: number) =>
  session.allocatorState({
    ...DEVICE,
    event,
    order: 'address',
    positions: Array.from({ length: 24 }, (_, place) => place),
    width: 600,
    colorBy: 'stack',
    classes: 24,
    search: '',
  });

const SIZE = { width: 1200, height: 600 };

/** As the page asks when a view is first shown, in a window as wide as the pictures. */
const FLAME = { deviceIndex: 0, ...flameBoxesQuery(DEFAULT_VIEW, SIZE.width) };
const EVENTS = eventChoice(ALL_EVENTS, DEFAULT_VIEW, -1);

const PALETTE = {
  classes: new Uint32Array(24),
  background: 0,
  pending: 0,
  thin: 0,
  gap: 0,
  separator: 0,
  dim: 0,
};

/** The whole trace, then ever less of it around its middle. */
const windows = Array.from({ length: 12 }, (_, i) => {
  const half = (events / 2) * 0.7 ** i;
  return { axis: 'event', x0: events / 2 - half, x1: events / 2 + half } as const;
});

const spread = Array.from({ length: JUMPS }, (_, i) => {
  const share = (i % 2 === 0 ? i + 1 : JUMPS + 1 - i) / (JUMPS + 1);
  return Math.round(events * share);
});
const next = Array.from({ length: STEPS }, (_, i) => Math.min(events - 1, peak + 1 + i));

const wholeTrace = { axis: 'event', x0: 0, x1: events } as const;
const reservedBytes = peaks?.reservedBytes.bytes ?? 0;
const addressFrame = async (x: (typeof windows)[number]) => {
  const { totalBytes } = await session.addressSlots(DEVICE);
  await session.addressFrame({
    ...DEVICE,
    viewport: { ...x, y0: 0, y1: totalBytes, ...SIZE },
    colorBy: 'stack',
    palette: PALETTE,
    selected: -1,
    highlight: { allocations: [], bands: [] },
    search: '',
    cursor: undefined,
  });
};
const segmentFrame = (x: (typeof windows)[number]) =>
  session.segmentFrame({
    ...DEVICE,
    viewport: { ...x, y0: 0, y1: reservedBytes, ...SIZE },
    palette: PALETTE,
    selected: -1,
  });
const searchSummary = (search: string) =>
  session.searchSummary({ ...DEVICE, search, at: undefined });
const listEvents = async (choice: EventChoice) => {
  await session.eventList({ ...DEVICE, choice });
  await session.eventRows({ ...DEVICE, choice, ...ROWS });
};
const sortBy = async (key: AllocationKey) => {
  const clock = 'events';
  const list = { ...DEVICE, search: '', at: undefined, key, isDescending: true, clock } as const;
  await session.allocationCount(list);
  await session.allocationRows({ ...list, ...ROWS });
};

/** What a view asks before it shows anything, in the order of the tabs: much is made for the first time. */
const OPENINGS: Readonly<Record<string, () => Promise<unknown>>> = {
  Addresses: () => addressFrame(wholeTrace),
  Segments: () => segmentFrame(wholeTrace),
  State: () => stateAt(events - 1),
  Flame: () => session.flame(FLAME),
  Events: async () => {
    await session.eventFacets(DEVICE);
    await listEvents(EVENTS);
  },
  Allocations: () => sortBy('size'),
  Summary: async () => {
    await session.memoryFigures({ ...DEVICE, event: events - 1 });
    await session.annotationGroups(DEVICE);
    await session.traceFacts(DEVICE);
  },
};
/** Before anything else has asked for classes: all of them are found then. */
const classesMs = await timesOf([peak], (event) => session.classTotals({ ...DEVICE, event }));
const openMs: Record<string, readonly number[]> = {};
for (const [view, ask] of Object.entries(OPENINGS)) openMs[view] = await timesOf([0], ask);

const results = {
  classesMs,
  openMs,
  addressFramesMs: await timesOf(windows, addressFrame),
  segmentFramesMs: await timesOf(windows, segmentFrame),
  stateStepsMs: await timesOf(next, stateAt),
  stateJumpsMs: await timesOf(spread, stateAt),
  flameMs: await timesOf<FlameRequest>(
    [
      { ...FLAME, groupBy: 'stack' },
      { ...FLAME, groupBy: 'function', inverted: true },
      { ...FLAME, dataset: 'end' },
      { ...FLAME, dataset: 'window' },
      { ...FLAME, dataset: 'window', weight: 'lifetime' },
    ],
    (request) => session.flame(request),
  ),
  wordsMs: await timesOf(
    ['lm_loss', 'attention', 'backward size>1MiB', 'train_gpt', '-forward'],
    searchSummary,
  ),
  regexesMs: await timesOf(
    ['/layer_?norm/', '/^at::native/', '/forward|backward/', '/(a+)+b/'],
    searchSummary,
  ),
  eventFilterMs: await timesOf<EventChoice>(
    [
      { ...EVENTS, actions: ['alloc'] },
      { ...EVENTS, actions: ['alloc', 'free_completed'], minBytes: 2 ** 20 },
      { ...EVENTS, pool: 'small' },
      { ...EVENTS, search: 'lm_loss' },
    ],
    listEvents,
  ),
  sortMs: await timesOf<AllocationKey>(['lifetime', 'cost', 'site', 'start', 'waste'], sortBy),
};
// The session keeps a port open, to let messages in: the process would not end by itself.
process.stdout.write(JSON.stringify(results), () => process.exit(0));
