import { beforeAll, describe, expect, it } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import type { Clock } from '../../base/task.ts';
import type { SessionInfo } from '../../device/model/device-info.ts';
import type { ByteSource } from '../../format/input/types.ts';
import { captureBytes } from '../../testing/captures.ts';
import { InThreadWorker } from '../../testing/in-thread-worker.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { loadAnswers } from '../load-answers.ts';
import { ALL_ALLOCATIONS } from '../open-device.ts';
import type { FrameRequest, OpenProgress, PartialState, SessionApi } from '../protocol.ts';
import { connect } from '../rpc.ts';
import { createSession } from '../session.ts';
import { servePartialReplay } from './partial-replay.ts';

/** A clock that makes all reading slow. */
const slowClock = { ...nodeClock, now: () => performance.now() * 1000 };

/** Number of chunks that a file is cut into. */
const CHUNKS = 60;

/** Yields bytes chunk by chunk, with a pause after each, in which others get their turn. */
function slowSource(bytes: Uint8Array, pause: () => Promise<unknown>): ByteSource {
  return {
    name: 'slow.pickle',
    size: bytes.length,
    async *chunks() {
      const chunkBytes = Math.ceil(bytes.length / CHUNKS);
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        yield bytes.slice(at, at + chunkBytes);
        await pause();
      }
    },
  };
}

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await nodeClock.yieldTask();
};

interface OpeningOptions {
  /** Awaited after each chunk of the file. */
  readonly pause?: () => Promise<unknown>;
  readonly clock?: Clock;
  readonly onMore?: (state: PartialState, session: SessionApi) => void;
}

function opening(options: OpeningOptions = {}) {
  const { pause = () => turns(20), clock = slowClock, onMore } = options;
  const workers: InThreadWorker[] = [];
  /** What was visible, each time that there was more. */
  const seen: PartialState[] = [];
  let bytes = new Uint8Array(0);
  const session = createSession({
    clock,
    startReplayWorker: () => {
      const worker = new InThreadWorker(servePartialReplay);
      workers.push(worker);
      return connect(worker);
    },
    sourceOf: async () => slowSource(bytes, pause),
  });
  const onProgress = ({ partial }: OpenProgress) => {
    const last = seen.at(-1);
    if (partial === undefined || (last?.trace === partial.trace && last.events === partial.events))
      return;
    seen.push(partial);
    onMore?.(partial, session);
  };
  const open = (given: Uint8Array) => {
    bytes = new Uint8Array(given);
    return session.open({ source: { kind: 'url', url: 'slow' } }, { onProgress });
  };
  return { session, workers, seen, open };
}

const PALETTE = {
  classes: Uint32Array.from({ length: 15 }, (_, i) => 0xff000000 + i),
  ...{ background: 0xffffffff, pending: 0xff0000ff, thin: 0xff888888 },
};
const SIZE = { width: 64, height: 48 };

const pictureOf = (session: SessionApi, { trace }: Pick<PartialState, 'trace'>) =>
  session.partialFrame({ trace, palette: PALETTE, ...SIZE });

/** A device's whole timeline, once its file is open. */
const wholeOf = ({ index, events, peaks }: SessionInfo['devices'][number]): FrameRequest => ({
  deviceIndex: index,
  viewport: {
    ...{ axis: 'event', x0: 0, x1: events, ...SIZE },
    ...{ y0: 0, y1: peaks.activeBytes.bytes },
  },
  colorBy: 'stack',
  palette: PALETTE,
  lines: ['activeBytes', 'reservedBytes'],
  selected: -1,
  ...ALL_ALLOCATIONS,
});

// Loading it takes longer than reading a test's file.
beforeAll(loadAnswers);

const TRAIN = captureBytes('train_gpt_small.pickle.gz');

/** The same as when the file is read at once. */
async function readAtOnce(bytes: Uint8Array) {
  const session = createSession({
    clock: nodeClock,
    sourceOf: async () => slowSource(bytes, async () => undefined),
  });
  return { session, info: await session.open({ source: { kind: 'url', url: 'slow' } }) };
}

describe('a file that is replayed while it is read', () => {
  it('is shown with more and more events', async () => {
    const pictures: number[] = [];
    let looking: Promise<void> | undefined;
    const { open, seen, session, workers } = opening({
      pause: async () => {
        await turns(5);
        await looking;
      },
      onMore: (state, own) => {
        looking ??= pictureOf(own, state).then(({ states, stackPeakBytes }) => {
          expect(stackPeakBytes).toBeGreaterThanOrEqual(state.peaks.activeBytes.bytes);
          pictures.push(states.at(-1) ?? -1);
          looking = undefined;
        });
      },
    });
    await open(TRAIN);
    expect(pictures.length).toBeGreaterThan(1);
    expect(pictures).toEqual([...pictures].sort((a, b) => a - b));
    const counts = seen.map(({ events }) => events);
    expect(counts.length).toBeGreaterThan(2);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(seen.every(({ isExact }) => isExact)).toBe(true);
    expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
    await expect(pictureOf(session, { trace: 0 })).rejects.toThrow('No file is read');
  });

  it('shows everything that was read before an error', async () => {
    const cut = TRAIN.subarray(0, TRAIN.length >> 1);
    const { open, session, seen } = opening();
    const failure = await open(cut).then(
      () => undefined,
      (error: unknown) => (error instanceof LoadError ? error.failure : undefined),
    );
    expect(failure).toMatchObject({ code: 'truncated', byte: cut.length });
    const last = seen.at(-1);
    if (last === undefined) throw new Error('Nothing was seen');
    expect(last.events).toBe(failure?.partialEvents);
    const { stackPeakBytes, states } = await pictureOf(session, last);
    expect(stackPeakBytes).toBe(last.peaks.activeBytes.bytes);
    expect(states[0]).toBeGreaterThanOrEqual(0);
  });

  it.each([
    'train_gpt_small',
    'two_devices',
    'train_recorded_late',
    'cuda_graph_pool',
    'oom_fragmented',
  ])('%s finally equals the file read at once', async (name) => {
    const bytes = captureBytes(`${name}.pickle.gz`);
    const { info: expected, session: whole } = await readAtOnce(bytes);
    const { open, session, seen } = opening();
    expect(await open(bytes)).toEqual(expected);
    expect(seen.length).toBeGreaterThan(0);
    for (const device of expected.devices) {
      if (device.events === 0) continue;
      const [ours, theirs] = await Promise.all(
        [session, whole].map((one) => one.query('frame', wholeOf(device))),
      );
      expect(ours?.pixels).toEqual(theirs?.pixels);
      expect(ours?.lines).toEqual(theirs?.lines);
    }
  });

  it('is shown as far as it got when nothing more arrives', async () => {
    let chunks = 0;
    const never = new Promise<void>(() => undefined);
    const { open, seen } = opening({ pause: () => (++chunks < CHUNKS / 2 ? turns(5) : never) });
    void open(TRAIN);
    const cut = TRAIN.subarray(0, Math.ceil(TRAIN.length / CHUNKS) * (CHUNKS / 2));
    const failure = await opening()
      .open(cut)
      .catch((error: unknown) => error);
    const events = failure instanceof LoadError ? failure.failure.partialEvents : undefined;
    await expect.poll(() => seen.at(-1)?.events, { timeout: 10_000 }).toBe(events);
  });
});

describe('a replay worker', () => {
  it('may die: the file is replayed when it has been read', async () => {
    const { info: expected } = await readAtOnce(TRAIN);
    const made = opening({ onMore: () => made.workers[0]?.crash() });
    expect(await made.open(TRAIN)).toEqual(expected);
    expect(made.workers[0]?.isTerminated).toBe(true);
  });

  it('is not started for a small file that is read quickly', async () => {
    const { open, workers, seen } = opening({ clock: { ...nodeClock, now: () => 0 } });
    await open(TRAIN);
    expect(workers).toEqual([]);
    expect(seen).toEqual([]);
  });

  it('says that a late recording lacks earlier memory', async () => {
    const { open, seen } = opening();
    await open(captureBytes('train_recorded_late.pickle.gz'));
    expect(seen.at(-1)?.isExact).toBe(false);
  });
});
