/** Small invented replays for tests: lifetimes as input, counters by brute force. */
import fc from 'fast-check';
import {
  type AllocationTable,
  type CounterName,
  type Counters,
  NEVER,
  type Peak,
  type Replay,
} from '../allocator/replay/types.ts';

/** One block's life; events as in AllocationTable, -1 = before the trace. */
export interface Life {
  readonly start: number;
  /** Undefined: never. */
  readonly freeRequested?: number | undefined;
  readonly end?: number | undefined;
  readonly sizeBytes: number;
  readonly stack?: number;
}

const NAMES: readonly CounterName[] = [
  'requestedBytes',
  'allocatedBytes',
  'activeBytes',
  'reservedBytes',
  'inactiveSplitBytes',
];

/** `lives` in order of start. Reserved memory is invented: the highest active so far, in steps of 1,000. */
export function syntheticReplay(lives: readonly Life[], eventCount: number): Replay {
  const allocations = allocationTable(lives);
  const series = new Map(NAMES.map((name) => [name, counterSeries(name, lives, eventCount)]));
  const at = (name: CounterName, event: number): number => series.get(name)?.[event + 1] ?? 0;
  const countersAt = (event: number): Counters => ({
    requestedBytes: at('requestedBytes', event),
    allocatedBytes: at('allocatedBytes', event),
    activeBytes: at('activeBytes', event),
    reservedBytes: at('reservedBytes', event),
    inactiveSplitBytes: at('inactiveSplitBytes', event),
  });
  const noPeak: Peak = { bytes: 0, event: -1 };
  return {
    allocations,
    segmentSpans: {
      ...allocations,
      sizeBytes: Float64Array.from(allocations.sizeBytes),
      isExpandable: new Uint8Array(0),
      length: 0,
    },
    recording: allocations.preexisting > 0 ? 'preexisting' : 'complete',
    recordingReason: 'made up',
    start: countersAt(-1),
    end: countersAt(eventCount - 1),
    peaks: {
      requestedBytes: noPeak,
      allocatedBytes: noPeak,
      activeBytes: noPeak,
      reservedBytes: noPeak,
      inactiveSplitBytes: noPeak,
    },
    anomalyCount: 0,
    anomalies: [],
    allocationOfEvent: new Int32Array(eventCount).fill(-1),
    countersAt,
    fillCounter(name, from, out) {
      for (let i = 0; i < out.length; i++) out[i] = at(name, from + i);
    },
  };
}

function allocationTable(lives: readonly Life[]): AllocationTable {
  const sizeBytes = Float64Array.from(lives, (life) => life.sizeBytes);
  return {
    length: lives.length,
    preexisting: lives.filter((life) => life.start < 0).length,
    start: Int32Array.from(lives, (life) => life.start),
    freeRequested: Int32Array.from(lives, (life) => life.freeRequested ?? NEVER),
    end: Int32Array.from(lives, (life) => life.end ?? NEVER),
    address: new Float64Array(lives.length),
    requestedBytes: sizeBytes,
    sizeBytes,
    stream: new Uint16Array(lives.length),
    pool: new Uint16Array(lives.length),
    isSmall: new Uint8Array(lives.length),
    stack: Int32Array.from(lives, (life) => life.stack ?? -1),
  };
}

/** Entry t + 1 is the counter after event t. */
function counterSeries(name: CounterName, lives: readonly Life[], eventCount: number): number[] {
  const series: number[] = [];
  for (let event = -1; event < eventCount; event++) {
    let sum = 0;
    for (const life of lives) {
      const until = name === 'allocatedBytes' ? life.freeRequested : life.end;
      if (life.start <= event && (until ?? NEVER) > event) sum += life.sizeBytes;
    }
    if (name === 'reservedBytes') {
      sum = Math.max(series.at(-1) ?? 0, Math.ceil(sum / 1000) * 1000);
    }
    series.push(sum);
  }
  return series;
}

/** Random traces for property tests: consistent, and shaped to reach every branch of the raster. */

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

/** Slivers and slabs: with rows of 1 to 256 bytes, some are far thinner than a pixel and some much thicker. */
const size = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 3000 }));

/** A `bias` below 100 makes deep stacks (more allocations than frees), one above 100 shallow ones. */
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

/** A block is picked twice: first its free is requested, then it completes. */
function free(open: OpenLife[], at: number, event: number): void {
  const life = open[at];
  if (life.freeRequested === undefined) {
    life.freeRequested = event;
  } else {
    life.end = event;
    open.splice(at, 1);
  }
}
