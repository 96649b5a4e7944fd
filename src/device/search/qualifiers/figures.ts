/** Qualifiers for an allocation's size, age, state, stream or pool. */
import { isPrivatePool } from '../../../allocator/replay/types.ts';
import { parseBytes } from '../../../base/format.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../../model/allocation-labels.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import {
  COMPARE,
  type Comparison,
  type Matcher,
  maskOf,
  matching,
  noteOfTimes,
  type Qualifier,
} from '../qualifier.ts';

const DURATION = /^(\d{1,15}(?:\.\d{1,15})?)(us|µs|μs|ms|s|min|h)?$/i;
/** The other spellings all mean microseconds. */
const UNIT_US: Readonly<Record<string, number>> = { ms: 1e3, s: 1e6, min: 60e6, h: 3600e6 };
const STATES = {
  live: 'live at the cursor; without a cursor, at the end',
  pending: 'freed, but another stream may still use it',
  freed: 'freed before that',
};
const HANDLE_OR_POSITION = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i;
const POOLS = {
  small: 'requests up to 1 MiB, in segments of 2 MiB',
  large: 'requests above 1 MiB',
  default: 'not in a private pool',
  private: 'in a private pool of a CUDA graph or MemPool',
};
const POOL_ID = /^\(\s*(\d{1,15})\s*,\s*(\d{1,15})\s*\)$/;

export const FIGURES = {
  /** Of the block, rounding included. */
  size: {
    help: 'block size in bytes',
    examples: ['size>64MiB', 'size=512'],
    isComparable: true,
    read(value, comparison) {
      const bytes = parseBytes(value);
      if (bytes === undefined) return undefined;
      return matching(({ replay: { allocations } }) => {
        return (id) => COMPARE[comparison](allocations.sizeBytes[id], bytes);
      });
    },
  },
  /** From the alloc to the free or the cursor (the end without one), whichever comes first. */
  age: {
    help: 'events or a time',
    examples: ['age>1000', 'age>2s'],
    isComparable: true,
    dependsOnCursor: true,
    read(value, comparison) {
      const [, figure, unit] = DURATION.exec(value) ?? [];
      if (figure === undefined) return undefined;
      if (unit === undefined) return agesBy('events', comparison, Number(figure));
      return agesBy('us', comparison, Number(figure) * (UNIT_US[unit.toLowerCase()] ?? 1));
    },
  },
  /** At the cursor, or at the end without one. An allocation after the cursor has none of these states. */
  state: {
    help: 'live, pending or freed',
    examples: ['state:live'],
    dependsOnCursor: true,
    words: STATES,
    read(value) {
      const state = wordIn(STATES, value);
      return state && matching((device, at) => stateTests(device, at)[state]);
    },
  },
  stream: {
    help: 'a stream handle, or its position in the list',
    examples: ['stream:0'],
    read: (value) => (HANDLE_OR_POSITION.test(value) ? onStream(BigInt(value)) : undefined),
    values: ({ trace }) => trace.streams.map(streamText),
    hintOf: (stream) => (stream === '0' ? 'the default stream' : ''),
  },
  pool: {
    help: 'small, large, default, private or an id',
    examples: ['pool:"(1, 0)"'],
    words: POOLS,
    read(value) {
      const word = wordIn(POOLS, value);
      if (word === 'small' || word === 'large') {
        const isSmall = word === 'small' ? 1 : 0;
        return matching(({ replay: { allocations } }) => {
          return (id) => allocations.isSmall[id] === isSmall;
        });
      }
      const id = POOL_ID.exec(value)?.slice(1).map(Number);
      if (word === undefined && id === undefined) return undefined;
      return matching(({ trace, replay: { allocations } }) => {
        const isHit = trace.pools.map((pool) => {
          if (id !== undefined) return pool.id[0] === id[0] && pool.id[1] === id[1];
          return isPrivatePool(pool) === (word === 'private');
        });
        return (row) => isHit[allocations.pool[row]] ?? word === 'default';
      });
    },
    values: ({ trace }) => trace.pools.map(privatePoolText).filter((pool) => pool !== undefined),
    hintOf: () => 'private pool',
  },
} as const satisfies Readonly<Record<string, Qualifier>>;

/** The matching word, ignoring case. */
function wordIn<Word extends string>(
  words: Readonly<Record<Word, string>>,
  written: string,
): Word | undefined {
  return (Object.keys(words) as Word[]).find((word) => word === written.toLowerCase());
}

function agesBy(unit: 'events' | 'us', comparison: Comparison, value: number): Matcher {
  return matching(
    (device, at) => {
      const ageOf = agesAt(device, at, unit);
      const { start, preexisting } = device.replay.allocations;
      return (id) => {
        const isKnown = id >= preexisting || comparison.startsWith('>');
        return start[id] <= at && isKnown && COMPARE[comparison](ageOf(id), value);
      };
    },
    unit === 'us' ? noteOfTimes : undefined,
  );
}

/**
 * Age at state `at`, or the whole life if freed by then. An allocation from before the trace has an unknown, greater
 * age, so it matches only what is certain: age>10 at event 20, but never age<100. Without times, ages in microseconds
 * are unknown and never match.
 */
function agesAt({ replay, trace }: DeviceModel, at: EventIndex, unit: 'events' | 'us') {
  const { start, end } = replay.allocations;
  const clock = unit === 'events' ? undefined : (trace.events.timeUs ?? new Float64Array(0));
  const momentOf = (event: EventIndex) => (clock === undefined ? event : clock[Math.max(0, event)]);
  return (id: number) => momentOf(Math.min(at, end[id])) - momentOf(start[id]);
}

function stateTests({ replay }: DeviceModel, at: EventIndex) {
  const { start, freeRequested, end } = replay.allocations;
  return {
    live: (id: number) => start[id] <= at && at < freeRequested[id] && at < end[id],
    pending: (id: number) => freeRequested[id] <= at && at < end[id],
    freed: (id: number) => end[id] <= at,
  };
}

/** By handle, or else by index into the streams. */
const onStream = (wanted: bigint): Matcher => ({
  allocations({ trace: { streams }, replay }) {
    const { length, stream } = replay.allocations;
    const unsigned = (handle: bigint) => BigInt.asUintN(64, handle);
    const byHandle = streams.findIndex(({ handle }) => unsigned(handle) === unsigned(wanted));
    const position = byHandle < 0 && wanted < BigInt(streams.length) ? Number(wanted) : byHandle;
    const known = streams.map(streamText).join(', ');
    const note = `There is no stream ${wanted}${known === '' ? '' : `, only ${known}`}.`;
    const mask = maskOf(length, (id) => stream[id] === position);
    return { mask, note: position < 0 ? note : undefined };
  },
});
