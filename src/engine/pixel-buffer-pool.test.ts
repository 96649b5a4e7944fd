import { expect, it } from 'vitest';
import { FrameQueue } from './frame-queue.ts';
import { PixelBufferPool } from './pixel-buffer-pool.ts';

const viewport = { axis: 'event', x0: 0, x1: 1, y0: 0, y1: 1, width: 2, height: 3 } as const;

it('gives a frame the newest pixels of its size, and has them again when it is given up', async () => {
  const queue = new FrameQueue<string>({ now: () => 0, yieldTask: () => Promise.resolve() });
  const spares = new PixelBufferPool();
  const given: (Uint32Array | undefined)[] = [];
  const draw = (run: () => string) =>
    spares.draw(
      queue,
      viewport,
      (out) => {
        given.push(out);
        return { run };
      },
      undefined,
    );
  const fitting = new Uint32Array(6);
  spares.keep(fitting);
  spares.keep(new Uint32Array(7));
  const fail = () => {
    throw new Error('given up');
  };
  await expect(draw(fail)).rejects.toThrow('given up');
  expect(await draw(() => 'frame')).toBe('frame');
  expect(await draw(() => 'another')).toBe('another');
  expect(given).toEqual([fitting, fitting, undefined]);
});
