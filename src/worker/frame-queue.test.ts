import { describe, expect, it } from 'vitest';
import { isAbortError } from '../base/errors.ts';
import { type Clock, stepwise, type Task } from '../base/task.ts';
import { FrameQueue } from './frame-queue.ts';

/** A clock that only drawing advances. The page's messages get in at `yieldTask` once they are due. */
function setUp(sliceMs?: number) {
  let nowMs = 0;
  const messages: { readonly dueMs: number; readonly arrive: () => void }[] = [];
  const log: string[] = [];
  const clock: Clock = {
    now: () => nowMs,
    yieldTask: async () => {
      log.push(`yield at ${nowMs}`);
      while (messages[0] !== undefined && messages[0].dueMs <= nowMs) messages.shift()?.arrive();
    },
  };
  const queue = new FrameQueue(clock, sliceMs);
  /** A frame that takes `costMs`, in columns of 1 ms. */
  const frame = (name: string, costMs: number) =>
    function* (): Task<string> {
      log.push(`begin ${name}`);
      yield* stepwise(costMs, 1, () => nowMs++);
      return name;
    };
  return { queue, messages, log, frame };
}

const settled = (frames: readonly Promise<string>[]) =>
  Promise.all(frames.map((f) => f.catch((e) => (isAbortError(e) ? 'dropped' : `failed: ${e}`))));

describe('the frame queue', () => {
  it('draws only the newest of the waiting frames', async () => {
    const { queue, frame, log } = setUp();
    const frames = ['a', 'b', 'c'].map((name) => queue.request(frame(name, 1)));
    expect(await settled(frames)).toEqual(['dropped', 'dropped', 'c']);
    expect(log).toEqual(['yield at 0', 'begin c']);
  });

  it('lets messages in every 8 ms', async () => {
    const { queue, frame, log } = setUp();
    await queue.request(frame('a', 20));
    expect(log).toEqual(['yield at 0', 'begin a', 'yield at 8', 'yield at 16']);
  });

  it('lets them in more often if others must not wait for it', async () => {
    const { queue, frame, log } = setUp(2);
    await queue.request(frame('a', 5));
    expect(log).toEqual(['yield at 0', 'begin a', 'yield at 2', 'yield at 4']);
  });

  it('drops a slow frame for a newer one', async () => {
    const { queue, frame, messages } = setUp();
    // The queue learns from this one that frames take 200 ms.
    await queue.request(frame('first', 200));
    const later: Promise<string>[] = [];
    messages.push({ dueMs: 220, arrive: () => later.push(queue.request(frame('new', 200))) });
    const old = queue.request(frame('old', 200));
    expect(await settled([old])).toEqual(['dropped']);
    expect(await settled(later)).toEqual(['new']);
  });

  it('finishes a frame that is nearly done before it draws the newer one', async () => {
    const { queue, frame, messages } = setUp();
    await queue.request(frame('first', 40));
    const later: Promise<string>[] = [];
    messages.push({ dueMs: 50, arrive: () => later.push(queue.request(frame('new', 40))) });
    expect(await queue.request(frame('old', 40))).toBe('old');
    expect(await settled(later)).toEqual(['new']);
  });

  it('starves no frame while newer ones keep coming', async () => {
    const { queue, frame, messages } = setUp();
    await queue.request(frame('first', 200));
    const frames: Promise<string>[] = [];
    for (let i = 1; i <= 100; i++) {
      const arrive = () => frames.push(queue.request(frame(String(i), 200)));
      messages.push({ dueMs: 200 + 16 * i, arrive });
    }
    await queue.request(frame('0', 200)).catch(() => undefined);
    while (messages.length > 0) await Promise.race(frames.slice(-1)).catch(() => undefined);
    const delivered = (await settled(frames)).filter((name) => name !== 'dropped');
    // They come over 1.6 s; at most 250 + 200 ms pass between two that are shown.
    expect(delivered.length).toBeGreaterThanOrEqual(4);
    expect(delivered.at(-1)).toBe('100');
  });

  it('drops a frame that the page no longer wants, waiting or being drawn', async () => {
    const { queue, frame, messages, log } = setUp();
    const waiting = queue.request(frame('a', 100), AbortSignal.abort());
    expect(await settled([waiting])).toEqual(['dropped']);
    const stop = new AbortController();
    messages.push({ dueMs: 20, arrive: () => stop.abort() });
    expect(await settled([queue.request(frame('b', 100), stop.signal)])).toEqual(['dropped']);
    expect(log.filter((line) => line.startsWith('begin'))).toEqual(['begin b']);
  });

  it('continues after a frame that fails', async () => {
    const { queue, frame } = setUp();
    const failing = queue.request(() => {
      throw new RangeError('No such viewport');
    });
    await expect(failing).rejects.toThrow('No such viewport');
    expect(await queue.request(frame('a', 1))).toBe('a');
  });
});

const viewport = { axis: 'event', x0: 0, x1: 1, y0: 0, y1: 1, width: 2, height: 3 } as const;

it('gives a frame the newest pixels of its size, and has them again when it is given up', async () => {
  const queue = new FrameQueue({ now: () => 0, yieldTask: () => Promise.resolve() });
  const given: (Uint32Array | undefined)[] = [];
  const draw = (paint: () => string) =>
    queue.draw(viewport, function* (out): Task<string> {
      given.push(out);
      yield;
      return paint();
    });
  const fitting = new Uint32Array(6);
  queue.recycle(fitting);
  queue.recycle(new Uint32Array(7));
  const fail = () => {
    throw new Error('given up');
  };
  await expect(draw(fail)).rejects.toThrow('given up');
  expect(await draw(() => 'frame')).toBe('frame');
  expect(await draw(() => 'another')).toBe('another');
  expect(given).toEqual([fitting, fitting, undefined]);
});
