import { memoized } from '../../base/collections.ts';
import { LoadError } from '../../base/load-error.ts';
import { Tag } from '../pickle/types.ts';
import type { ValueMachine } from '../pickle/value-machine.ts';
import { assembleSnapshot } from './assemble.ts';
import { SnapshotSchema } from './schema.ts';
import type { HolderTable, Snapshot, SnapshotWarning } from './tables.ts';

/**
 * The tables from the result of JSON.parse; dictionaries may also be Maps.
 * @throws LoadError 'not-a-snapshot'
 */
export function snapshotFromValue(value: unknown): Snapshot {
  const schema = new SnapshotSchema();
  new Walker(schema.machine).walk(value);
  schema.machine.finish();
  return assembleSnapshot(schema);
}

/** What may be in files beside a snapshot: NAME.holders.json and NAME.ledger.json belong to NAME.pickle. */
export const BESIDE = ['holders', 'ledger'] as const;
export type Beside<T> = { readonly [K in (typeof BESIDE)[number]]?: T | undefined };

/** Adds what those files contain, given as texts. If one cannot be read, the snapshot gets a warning instead. */
export function withBeside(snapshot: Snapshot, { holders, ledger }: Beside<string>): Snapshot {
  const named = holders === undefined ? snapshot : withHolders(snapshot, holders);
  return ledger === undefined ? named : withLedger(named, ledger);
}

/** A ledger of its own the snapshot keeps. */
function withLedger(snapshot: Snapshot, json: string): Snapshot {
  if (snapshot.ledger !== undefined) return snapshot;
  const { ledger, warnings } = snapshotFromValue({ segments: [], memory_ledger: parsed(json) });
  if (ledger === undefined) return withWarnings(snapshot, [unreadable('ledger')]);
  const samples = ledger.samples.map((sample) => {
    return { ...sample, timeUs: sample.timeUs - snapshot.startUs };
  });
  const bad = warnings.filter(({ code }) => code === 'bad-value');
  return withWarnings({ ...snapshot, ledger: { ...ledger, samples } }, bad);
}

/**
 * Adds the names in NAME.holders.json, which vramscope.holders writes next to the snapshot. If they cannot be read, the
 * snapshot gets a warning instead; names of its own it keeps.
 */
function withHolders(snapshot: Snapshot, json: string): Snapshot {
  if (snapshot.holders !== undefined) return snapshot;
  const { holders, strings, addresses } = snapshotFromValue({
    segments: [],
    holders: parsed(json),
  });
  if (holders === undefined) return withWarnings(snapshot, [unreadable('holders')]);
  const own = snapshot.strings;
  const renumbered: HolderTable = {
    ...holders,
    address: holders.address.map((key) => snapshot.addresses.fromBigInt(addresses.toBigInt(key))),
    name: holders.name.map((row) => own.length + row),
  };
  const length = own.length + strings.length;
  const get = (row: number) => (row < own.length ? own.get(row) : strings.get(row - own.length));
  return { ...snapshot, strings: { length, get }, holders: renumbered };
}

const withWarnings = (snapshot: Snapshot, more: readonly SnapshotWarning[]): Snapshot => ({
  ...snapshot,
  warnings: [...snapshot.warnings, ...more],
});

const unreadable = (kind: keyof Beside<string>): SnapshotWarning => ({
  code: 'bad-value',
  message: `The .${kind}.json file beside the snapshot cannot be read.`,
});

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** A snapshot nests seven levels. The limit gives an error message instead of a stack overflow. */
const MAX_DEPTH = 1000;
const BYTES_PER_VALUE = 4;

/** Pushes one value onto the machine, as a pickle of it would. */
class Walker {
  readonly #machine: ValueMachine;
  #walked = 0;
  /** Caches a few hundred texts that occur millions of times. Encoding each would dominate the time. */
  readonly #rowOf = memoized((text: string) => this.#machine.strings.internText(text));

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  walk(value: unknown, depth = 0): void {
    const machine = this.#machine;
    // The size in bytes is unknown, so assume some per value.
    if ((++this.#walked & 0xffff) === 0) {
      machine.growth.progress(this.#walked * BYTES_PER_VALUE, undefined);
    }
    if (typeof value === 'number') {
      machine.push(Number.isSafeInteger(value) ? Tag.Int : Tag.Float, value);
    } else if (typeof value === 'bigint') machine.pushBigInt(value);
    else if (typeof value === 'string') machine.push(Tag.String, this.#rowOf(value));
    else if (typeof value === 'boolean') machine.push(Tag.Bool, Number(value));
    else if (typeof value === 'object' && value !== null) this.#walkObject(value, depth);
    else machine.push(Tag.None, 0);
  }

  #walkObject(value: object, depth: number): void {
    const machine = this.#machine;
    if (depth > MAX_DEPTH) {
      throw new LoadError({
        code: 'not-a-snapshot',
        message: `This file nests more than ${MAX_DEPTH} levels, which no memory snapshot does.`,
      });
    }
    if (Array.isArray(value)) {
      machine.push(Tag.OpenList, -1);
      for (const item of value) {
        this.walk(item, depth + 1);
        machine.append();
      }
    } else {
      machine.push(Tag.OpenDict, -1);
      machine.mark();
      for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
        this.walk(key, depth + 1);
        this.walk(item, depth + 1);
      }
      machine.setItems();
    }
    machine.closeTop();
  }
}
