/**
 * Asks the session what the views ask of it, without a browser, and prints how long each answer
 * took. In a process that has just started, as the page's worker has.
 */
import { createReadStream, statSync } from 'node:fs';
import { webPlatform } from '../src/engine/gunzip.ts';
import type { OpenSource, SessionApi } from '../src/engine/protocol.ts';
import { createSession } from '../src/engine/session.ts';

const path = process.argv[2] ?? '';
const DEVICE = { device: 0 };
const ROWS = { from: 0, to: 60 };
const STEPS = 30;
const JUMPS = 12;

const session: SessionApi = createSession({
  platform: webPlatform,
  clock: {
    now: () => performance.now(),
    yieldTask: () => new Promise((resolve) => setImmediate(resolve)),
  },
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
    places: Array.from({ length: 24 }, (_, place) => place),
    width: 600,
    colorBy: 'stack',
    classes: 24,
    search: '',
  });

const FLAME = {
  ...DEVICE,
  of: 'peak',
  weight: 'bytes',
  by: 'line',
  frames: 'known',
  cursor: undefined,
  mark: undefined,
  window: undefined,
  search: '',
  onlyMatches: false,
  inverted: false,
  root: undefined,
  smallestShare: 1 / 2048,
} as const;

const EVENTS = {
  actions: undefined,
  minBytes: undefined,
  maxBytes: undefined,
  stream: undefined,
  pool: undefined,
  window: undefined,
  allocation: undefined,
  search: '',
  at: undefined,
} as const;

const SIZE = { width: 1200, height: 600 };
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

const { totalBytes } = await session.addressSlots(DEVICE);
const reservedBytes = peaks?.reservedBytes.bytes ?? 0;
const results = {
  addressFramesMs: await timesOf(windows, (x) =>
    session.addressFrame({
      ...DEVICE,
      viewport: { ...x, y0: 0, y1: totalBytes, ...SIZE },
      colorBy: 'stack',
      palette: PALETTE,
      selected: -1,
      highlight: { allocations: [], bands: [] },
      search: '',
      cursor: undefined,
    }),
  ),
  segmentFramesMs: await timesOf(windows, (x) =>
    session.segmentFrame({
      ...DEVICE,
      viewport: { ...x, y0: 0, y1: reservedBytes, ...SIZE },
      palette: PALETTE,
      selected: -1,
    }),
  ),
  firstStateMs: await timesOf([peak], stateAt),
  stateStepsMs: await timesOf(next, stateAt),
  stateJumpsMs: await timesOf(spread, stateAt),
  flameMs: await timesOf(
    [
      FLAME,
      { ...FLAME, by: 'stack' },
      { ...FLAME, by: 'function', inverted: true },
      { ...FLAME, of: 'end' },
      { ...FLAME, of: 'window' },
      { ...FLAME, of: 'window', weight: 'lifetime' },
    ] as const,
    (request) => session.flame(request),
  ),
  searchMs: await timesOf(
    ['lm_loss', 'attention', 'backward size>1MiB', 'train_gpt', '/layer_?norm/', '/(a+)+b/'],
    (search) => session.searchSummary({ ...DEVICE, search, at: undefined }),
  ),
  eventFilterMs: await timesOf(
    [
      EVENTS,
      { ...EVENTS, actions: ['alloc'] },
      { ...EVENTS, actions: ['alloc', 'free_completed'], minBytes: 2 ** 20 },
      { ...EVENTS, pool: 'small' },
      { ...EVENTS, search: 'lm_loss' },
    ],
    async (choice) => {
      await session.eventList({ ...DEVICE, choice });
      await session.eventRows({ ...DEVICE, choice, ...ROWS });
    },
  ),
  sortMs: await timesOf(
    ['size', 'lifetime', 'cost', 'site', 'start', 'waste'] as const,
    async (key) => {
      const list = {
        ...DEVICE,
        search: '',
        at: undefined,
        key,
        isDescending: true,
        clock: 'events',
      } as const;
      await session.allocationCount(list);
      await session.allocationRows({ ...list, ...ROWS });
    },
  ),
};
// The session keeps a port open, to let messages in: the process would not end by itself.
process.stdout.write(JSON.stringify(results), () => process.exit(0));
