import { parseBytes } from '../../../base/format.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../../model/allocation-details.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { maskOf, noteOfTimes } from '../masks.ts';
import { type AllocationQualifier, type Comparison, compare, quoteText } from '../qualifier.ts';

export interface SizeCondition {
  readonly kind: 'size';
  readonly comparison: Comparison;
  /** Of the block, rounding included. */
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

/** Blocks of at least `from` and of fewer than `to` bytes; Infinity: no upper end. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const terms: string[] = [];
  if (fromBytes > 0) terms.push(`size>=${fromBytes}`);
  if (Number.isFinite(toBytes)) terms.push(`size<${toBytes}`);
  return terms.join(' ');
}

/** From the alloc to the free, or to the cursor (else the end) where that comes first. */
export interface AgeCondition {
  readonly kind: 'age';
  readonly comparison: Comparison;
  readonly unit: 'events' | 'us';
  readonly value: number;
}

const DURATION = /^(\d{1,15}(?:\.\d{1,15})?)(us|µs|μs|ms|s|min|h)?$/i;
const UNIT_US: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  μs: 1,
  ms: 1e3,
  s: 1e6,
  min: 60e6,
  h: 3600e6,
};

export const AGE: AllocationQualifier<AgeCondition> = {
  name: 'age',
  help: 'events or a time',
  examples: ['age>1000', 'age>2s'],
  isComparable: true,
  dependsOnCursor: true,
  parse(value, comparison) {
    const match = DURATION.exec(value);
    if (match === null) return undefined;
    const factor = match[2] === undefined ? undefined : UNIT_US[match[2].toLowerCase()];
    const unit = factor === undefined ? 'events' : 'us';
    return { kind: 'age', comparison, unit, value: Number(match[1]) * (factor ?? 1) };
  },
  match(context, condition, at) {
    const note = condition.unit === 'us' ? noteOfTimes(context) : undefined;
    return { mask: ageMask(context, condition, at), note };
  },
};

/**
 * Age at state `at`, or the whole life of what is freed by then. One from before the trace is older
 * than anyone saw: it matches only what is certain, so age>10 at event 20 but never age<100.
 * Without times no age in microseconds is known, and none matches.
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
    if (id >= preexisting) return compare(age, comparison, value);
    return comparison.startsWith('>') && compare(age, comparison, value);
  });
}

/** At the cursor, else at the end. An allocation that is yet to come is in none of them. */
type StateWord = 'live' | 'pending' | 'freed';

export interface StateCondition {
  readonly kind: 'state';
  readonly state: StateWord;
}

const STATES: readonly (readonly [StateWord, string])[] = [
  ['live', 'live at the cursor; without a cursor, at the end'],
  ['pending', 'freed, but another stream may still use it'],
  ['freed', 'freed before that'],
];

export const STATE: AllocationQualifier<StateCondition> = {
  name: 'state',
  help: 'live, pending or freed',
  examples: ['state:live'],
  dependsOnCursor: true,
  parse(value) {
    const known = STATES.find(([word]) => word === value.toLowerCase());
    return known && { kind: 'state', state: known[0] };
  },
  match: (context, { state }, at) => ({ mask: stateMask(context, state, at) }),
  suggest: () => STATES.map(([word, hint]) => ({ term: stateTerm(word), hint })),
};

/** In the state after `at`. */
function stateMask({ replay }: DeviceModel, state: StateWord, at: EventIndex): Uint8Array {
  const { length, start, freeRequested, end } = replay.allocations;
  switch (state) {
    case 'live':
      return maskOf(length, (id) => start[id] <= at && at < freeRequested[id] && at < end[id]);
    case 'pending':
      return maskOf(length, (id) => freeRequested[id] <= at && at < end[id]);
    case 'freed':
      return maskOf(length, (id) => end[id] <= at);
  }
}

export function stateTerm(state: StateWord): string {
  return `state:${state}`;
}

/** A handle, or else a position in the list of streams. */
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
  match({ trace, replay }, { stream: wanted }) {
    const { streams } = trace;
    const { length, stream } = replay.allocations;
    const byHandle = streams.findIndex(
      ({ handle }) => BigInt.asUintN(64, handle) === BigInt.asUintN(64, wanted),
    );
    const position = byHandle < 0 && wanted < BigInt(streams.length) ? Number(wanted) : byHandle;
    if (position < 0) {
      const known = streams.map(streamText).join(', ');
      const note = `There is no stream ${wanted}${known === '' ? '' : `, only ${known}`}.`;
      return { mask: new Uint8Array(length), note };
    }
    return { mask: maskOf(length, (id) => stream[id] === position) };
  },
  values: ({ trace }) => trace.streams.map(streamText),
  suggest: (streams) =>
    streams.map((stream) => ({
      term: streamTerm(stream),
      hint: stream === '0' ? 'the default stream' : '',
    })),
};

/** `stream` as `streamText` writes it: '0', '0x55d0c0de'. */
export function streamTerm(stream: string): string {
  return `stream:${stream}`;
}

export type PoolWord = 'small' | 'large' | 'default' | 'private';

export interface PoolCondition {
  readonly kind: 'pool';
  /** A word, or the id of a private pool. */
  readonly pool: PoolWord | readonly [number, number];
}

const POOLS: readonly (readonly [PoolWord, string])[] = [
  ['small', 'requests up to 1 MiB, in segments of 2 MiB'],
  ['large', 'requests above 1 MiB'],
  ['default', 'not in a private pool'],
  ['private', 'in a private pool of a CUDA graph or MemPool'],
];
const POOL_ID = /^\(\s*(\d{1,15})\s*,\s*(\d{1,15})\s*\)$/;

export const POOL: AllocationQualifier<PoolCondition> = {
  name: 'pool',
  help: 'small, large, default, private or an id',
  examples: ['pool:"(1, 0)"'],
  parse(value) {
    const known = POOLS.find(([word]) => word === value.toLowerCase());
    if (known !== undefined) return { kind: 'pool', pool: known[0] };
    const id = POOL_ID.exec(value);
    return id === null ? undefined : { kind: 'pool', pool: [Number(id[1]), Number(id[2])] };
  },
  match: (context, { pool }) => ({ mask: poolMask(context, pool) }),
  values: ({ trace }) => trace.pools.map(privatePoolText).filter((pool) => pool !== undefined),
  suggest: (privatePools) => [
    ...POOLS.map(([word, hint]) => ({ term: poolTerm(word), hint })),
    ...privatePools.map((pool) => ({ term: privatePoolTerm(pool), hint: 'private pool' })),
  ],
};

function poolMask({ replay, trace }: DeviceModel, wanted: PoolCondition['pool']): Uint8Array {
  const { length, pool, isSmall } = replay.allocations;
  if (wanted === 'small' || wanted === 'large') {
    const flag = wanted === 'small' ? 1 : 0;
    return maskOf(length, (id) => isSmall[id] === flag);
  }
  const isHit = trace.pools.map(({ id: [capture, handle] }) => {
    if (typeof wanted !== 'string') return capture === wanted[0] && handle === wanted[1];
    return (capture === 0 && handle === 0) === (wanted === 'default');
  });
  return maskOf(length, (id) => isHit[pool[id]] ?? wanted === 'default');
}

export function poolTerm(pool: PoolWord): string {
  return `pool:${pool}`;
}

/** A private pool as `privatePoolText` writes it: '(1, 0)'. */
export function privatePoolTerm(pool: string): string {
  return `pool:${quoteText(pool)}`;
}
