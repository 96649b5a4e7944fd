/** Random traces for property tests: consistent, and shaped to reach every branch of the raster. */
import fc from 'fast-check';
import type { Replay } from '../core/replay/types.ts';
import { type Life, syntheticReplay } from './synthetic-replay.ts';

export interface RandomTrace {
  readonly replay: Replay;
  readonly eventCount: number;
  readonly timeUs: Float64Array;
  readonly classOf: Uint8Array;
}

interface OpenLife {
  start: number;
  sizeBytes: number;
  freeRequested?: number;
  end?: number;
}

const CLASSES = 12;

/** Slivers and slabs: with rows of 1 to 256 bytes some are far thinner than a pixel, some many. */
const size = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 3000 }));

/** `bias` below 100 makes deep stacks (more allocations than frees), above it shallow ones. */
const step = fc.record({ pick: fc.nat(), sizeBytes: size, kind: fc.nat(199), gapUs: fc.nat(3) });

export const randomTrace: fc.Arbitrary<RandomTrace> = fc
  .record({
    preexisting: fc.array(size, { maxLength: 90 }),
    steps: fc.array(step, { minLength: 1, maxLength: 400, size: 'max' }),
    bias: fc.constantFrom(40, 90, 100, 130),
    classSeed: fc.nat(),
    classes: fc.constantFrom(1, 2, CLASSES),
  })
  .map(({ preexisting, steps, bias, classSeed, classes }) => {
    const lives: OpenLife[] = preexisting.map((sizeBytes) => ({ start: -1, sizeBytes }));
    const open: OpenLife[] = [...lives];
    steps.forEach(({ pick, sizeBytes, kind }, event) => {
      if (kind >= bias && kind < 195 && open.length > 0) {
        const at = pick % open.length;
        free(open, at, event);
      } else if (kind < 195) {
        const life = { start: event, sizeBytes };
        lives.push(life);
        open.push(life);
      }
    });
    const timeUs = new Float64Array(steps.length);
    for (let i = 0, now = 1e15; i < steps.length; i++) timeUs[i] = now += steps[i].gapUs;
    const classOf = Uint8Array.from(
      lives,
      (_, id) => ((id * 2654435761 + classSeed) >>> 3) % classes,
    );
    return {
      replay: syntheticReplay(lives satisfies Life[], steps.length),
      eventCount: steps.length,
      timeUs,
      classOf,
    };
  });

/** The first time a block is picked its free is requested, the second time it completes. */
function free(open: OpenLife[], at: number, event: number): void {
  const life = open[at];
  if (life.freeRequested === undefined) {
    life.freeRequested = event;
  } else {
    life.end = event;
    open.splice(at, 1);
  }
}
