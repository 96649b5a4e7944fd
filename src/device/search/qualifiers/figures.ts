/** Qualifiers for an allocation's size, age, state, stream or pool. */
import { isPrivatePool } from '../../../allocator/replay/types.ts';
import { parseBytes } from '../../../base/format.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../../model/allocation-labels.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { maskOf, noteOfTimes } from '../masks.ts';
import { type AllocationQualifier, type Comparison, compare, quotedTerm } from '../qualifier.ts';

export interface SizeCondition {
  readonly kind: 'size';
  readonly comparison: Comparison;
  /** Block bytes, rounding included. */
  readonly bytes: number;
}

export const SIZE: AllocationQualifier<SizeCondition> = {
  name: 'size',
  help: 'block size in bytes',
  examples: ['size>64MiB', 'size=512'],
  isComparable: true,
  parse(value, comparison) {
    const bytes = parseBytes(value);
    return bytes === undefined ? undefined : { kind: 'size', comparison, bytes };
  },
  match({ replay }, { comparison, bytes }) {
    const { length, sizeBytes } = replay.allocations;
    return { mask: maskOf(length, (id) => compare(sizeBytes[id], comparison, bytes)) };
  },
};

/** From the alloc to the free or the cursor (the end without one), whichever comes first. */
export interface AgeCondition {
  readonly kind: 'age';
  readonly comparison: Comparison;
  readonly unit: 'events' | 'us';
  readonly value: number;
}

const DURATION = /^(\d{1,15}(?:\.\d{1,15})?)(us|µs|μs|ms|s|min|h)?$/i;
/** The other spellings all mean microseconds. */
const UNIT_US: Readonly<Record<string, number>> = { ms: 1e3, s: 1e6, min: 60e6, h: 3600e6 };

export const AGE: AllocationQualifier<AgeCondition> = {
  name: 'age',
  help: 'events or a time',
  examples: ['age>1000', 'age>2s'],
  isComparable: true,
  dependsOnCursor: true,
  parse(value, comparison) {
    const [, figure, unit] = DURATION.exec(value) ?? [];
    if (figure === undefined) return undefined;
    if (unit === undefined) {
      return { kind: 'age', comparison, unit: 'events', value: Number(figure) };
    }
    const valueUs = Number(figure) * (UNIT_US[unit.toLowerCase()] ?? 1);
    return { kind: 'age', comparison, unit: 'us', value: valueUs };
  },
  match(context, condition, at) {
    const note = condition.unit === 'us' ? noteOfTimes(context) : undefined;
    return { mask: ageMask(context, condition, at), note };
  },
};

/**
 * Age at state `at`, or the whole life if freed by then. An allocation from before the trace has an unknown, greater
 * age, so it matches only what is certain: age>10 at event 20, but never age<100. Without times, ages in microseconds
 * are unknown and never match.
 */
function ageMask(
  { replay, trace }: DeviceModel,
  { comparison, unit, value }: AgeCondition,
  at: EventIndex,
): Uint8Array {
  const { length, preexisting, start, end } = replay.allocations;
  const clock = unit === 'events' ? undefined : (trace.events.timeUs ?? new Float64Array(0));
  const momentOf = (event: EventIndex) => (clock === undefined ? event : clock[Math.max(0, event)]);
  return maskOf(length, (id) => {
    if (start[id] > at) return false;
    const age = momentOf(Math.min(at, end[id])) - momentOf(start[id]);
    return (id >= preexisting || comparison.startsWith('>')) && compare(age, comparison, value);
  });
}

const STATES = {
  live: 'live at the cursor; without a cursor, at the end',
  pending: 'freed, but another stream may still use it',
  freed: 'freed before that',
};
type StateWord = keyof typeof STATES;

/** At the cursor, or at the end without one. An allocation after the cursor has none of these states. */
export interface StateCondition {
  readonly kind: 'state';
  readonly state: StateWord;
}

export const STATE: AllocationQualifier<StateCondition> = {
  name: 'state',
  help: 'live, pending or freed',
  examples: ['state:live'],
  dependsOnCursor: true,
  parse(value) {
    const state = wordIn(STATES, value);
    return state && { kind: 'state', state };
  },
  match({ replay }, { state }, at) {
    const { length, start, freeRequested, end } = replay.allocations;
    const isIn: Readonly<Record<StateWord, (id: number) => boolean>> = {
      live: (id) => start[id] <= at && at < freeRequested[id] && at < end[id],
      pending: (id) => freeRequested[id] <= at && at < end[id],
      freed: (id) => end[id] <= at,
    };
    return { mask: maskOf(length, isIn[state]) };
  },
  suggest: () => Object.entries(STATES).map(([word, hint]) => ({ term: `state:${word}`, hint })),
};

/** The matching word, ignoring case. */
function wordIn<Word extends string>(
  words: Readonly<Record<Word, string>>,
  written: string,
): Word | undefined {
  return (Object.keys(words) as Word[]).find((word) => word === written.toLowerCase());
}

export const stateTerm = (state: StateWord): string => `state:${state}`;

/** A handle, or else an index into the streams. */
export interface StreamCondition {
  readonly kind: 'stream';
  readonly stream: bigint;
}

const HANDLE_OR_POSITION = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i;

export const STREAM: AllocationQualifier<StreamCondition> = {
  name: 'stream',
  help: 'a stream handle, or its position in the list',
  examples: ['stream:0'],
  parse: (value) =>
    HANDLE_OR_POSITION.test(value) ? { kind: 'stream', stream: BigInt(value) } : undefined,
  match({ trace: { streams }, replay }, { stream: wanted }) {
    const { length, stream } = replay.allocations;
    const unsigned = (handle: bigint) => BigInt.asUintN(64, handle);
    const byHandle = streams.findIndex(({ handle }) => unsigned(handle) === unsigned(wanted));
    const position = byHandle < 0 && wanted < BigInt(streams.length) ? Number(wanted) : byHandle;
    const known = streams.map(streamText).join(', ');
    const note = `There is no stream ${wanted}${known === '' ? '' : `, only ${known}`}.`;
    return {
      mask: maskOf(length, (id) => stream[id] === position),
      note: position < 0 ? note : undefined,
    };
  },
  values: ({ trace }) => trace.streams.map(streamText),
  suggest: (streams) =>
    streams.map((stream) => ({
      term: streamTerm(stream),
      hint: stream === '0' ? 'the default stream' : '',
    })),
};

/** `stream` as `streamText` writes it: '0', '0x55d0c0de'. */
export const streamTerm = (stream: string): string => `stream:${stream}`;

const POOLS = {
  small: 'requests up to 1 MiB, in segments of 2 MiB',
  large: 'requests above 1 MiB',
  default: 'not in a private pool',
  private: 'in a private pool of a CUDA graph or MemPool',
};
export type PoolWord = keyof typeof POOLS;
const POOL_ID = /^\(\s*(\d{1,15})\s*,\s*(\d{1,15})\s*\)$/;

export interface PoolCondition {
  readonly kind: 'pool';
  /** A word, or the id of a private pool. */
  readonly pool: PoolWord | readonly [number, number];
}

export const POOL: AllocationQualifier<PoolCondition> = {
  name: 'pool',
  help: 'small, large, default, private or an id',
  examples: ['pool:"(1, 0)"'],
  parse(value) {
    const word = wordIn(POOLS, value);
    if (word !== undefined) return { kind: 'pool', pool: word };
    const id = POOL_ID.exec(value);
    return id === null ? undefined : { kind: 'pool', pool: [Number(id[1]), Number(id[2])] };
  },
  match({ replay, trace }, { pool: wanted }) {
    const { length, pool, isSmall } = replay.allocations;
    if (wanted === 'small' || wanted === 'large') {
      const flag = wanted === 'small' ? 1 : 0;
      return { mask: maskOf(length, (id) => isSmall[id] === flag) };
    }
    const isHit = trace.pools.map((one) => {
      if (typeof wanted === 'string') return isPrivatePool(one) === (wanted === 'private');
      return one.id[0] === wanted[0] && one.id[1] === wanted[1];
    });
    return { mask: maskOf(length, (id) => isHit[pool[id]] ?? wanted === 'default') };
  },
  values: ({ trace }) => trace.pools.map(privatePoolText).filter((pool) => pool !== undefined),
  suggest: (privatePools) => [
    ...Object.entries(POOLS).map(([word, hint]) => ({ term: `pool:${word}`, hint })),
    ...privatePools.map((pool) => ({ term: privatePoolTerm(pool), hint: 'private pool' })),
  ],
};

export const poolTerm = (pool: PoolWord): string => `pool:${pool}`;

/** A private pool as `privatePoolText` writes it: '(1, 0)'. */
export const privatePoolTerm = (pool: string): string => quotedTerm('pool', pool);
