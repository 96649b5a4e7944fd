/**
 * The key `memory_ledger` of a snapshot: the card's memory as vramscope.record sampled it. See docs/outside.md.
 */
import type { DictEntry } from '../pickle/retained-values.ts';
import { addedEntries, type Entries, entriesOf, missingIn } from './added-value.ts';
import { MAX_DEVICES } from './field-reader.ts';
import type { SnapshotSchema } from './schema.ts';
import { LEDGER_MOMENTS, type LedgerSample, type MemoryLedger } from './tables.ts';

const FORMAT = { version: 1, maxValues: 2 ** 21 };
/** No card is larger, so that the sums of a sample stay exact. */
export const MAX_LEDGER_BYTES = 2 ** 44;
/** Processes, communicators or pools of one sample. */
export const MAX_LEDGER_ITEMS = 256;

/** Undefined if the file has none, or has it in a newer format. Unreadable samples and fields are counted. */
export function readLedger(
  schema: SnapshotSchema,
  entry: DictEntry | undefined,
  startUs: number,
): MemoryLedger | undefined {
  if (entry === undefined) return undefined;
  const { fields } = schema;
  const top = addedEntries(schema, entry, FORMAT);
  const listed = top.get('samples');
  if (!Array.isArray(listed)) {
    fields.bad(entry.key, 0);
    return undefined;
  }
  const bad = () => void fields.bad(entry.key, 0);
  const samples = listed.flatMap((value) => sampleOf(entriesOf(value), startUs, bad) ?? []);
  return {
    samples: samples.sort((a, b) => a.timeUs - b.timeUs),
    missing: missingIn(top),
  };
}

function sampleOf(row: Entries, startUs: number, bad: () => void): LedgerSample | undefined {
  const [time, device, step] = ['time_us', 'device', 'step'].map((key) => row.get(key));
  const [free, total, allocated, reserved] = ['free', 'total', 'allocated', 'reserved'].map((key) =>
    bytesIn(row, key),
  );
  const isPlaced = isTime(time) && isCount(device) && device < MAX_DEVICES;
  if (!isPlaced || !(free <= total) || !(allocated <= reserved)) {
    bad();
    return undefined;
  }
  /** The recorder leaves out what it can't know; a wrong value counts as left out, after a warning. */
  const known = <T>(key: string, read: (value: unknown) => T | undefined) => {
    const value = row.get(key);
    if (value === undefined || value === null) return undefined;
    const found = read(value);
    if (found === undefined) bad();
    return found;
  };
  const processBytes = known('process', toBytes);
  const contextBytes = known('context', toBytes);
  const others = known('others', (value) => allOf(value, toProcess));
  const communicators = known('communicators', (value) => allOf(value, toCommunicator));
  const pools = known('pools', (value) => allOf(value, toPool));
  return {
    timeUs: time - startUs,
    device,
    // Moments from newer versions are moments like any other.
    moment: LEDGER_MOMENTS.find((word) => word === row.get('moment')) ?? 'interval',
    ...(isCount(step) && { step }),
    freeBytes: free,
    totalBytes: total,
    allocatedBytes: allocated,
    reservedBytes: reserved,
    ...(processBytes !== undefined && { processBytes }),
    ...(others !== undefined && { others }),
    ...(contextBytes !== undefined && { contextBytes }),
    ...(communicators !== undefined && { communicators }),
    ...(pools !== undefined && { pools }),
  };
}

function toProcess(row: Entries) {
  const [pid, bytes] = [row.get('pid'), bytesIn(row, 'bytes')];
  return isCount(pid) && bytes >= 0 ? { pid, bytes } : undefined;
}

function toCommunicator(row: Entries) {
  const [group, backend, bytes] = [row.get('group'), row.get('backend'), bytesIn(row, 'bytes')];
  if (typeof group !== 'string' || !(bytes >= 0)) return undefined;
  return { group, backend: typeof backend === 'string' ? backend : '', bytes };
}

function toPool(row: Entries) {
  const [id, reservedBytes] = [row.get('pool'), bytesIn(row, 'reserved')];
  const isId = Array.isArray(id) && id.length === 2 && id.every(Number.isSafeInteger);
  if (!isId || !(reservedBytes >= 0)) return undefined;
  const allocatedBytes = bytesIn(row, 'allocated');
  const isKnown = allocatedBytes <= reservedBytes;
  return {
    id: [id[0], id[1]] as const,
    reservedBytes,
    ...(isKnown && { allocatedBytes }),
  };
}

/** Undefined if any item is wrong: a part of a list is not its sum. */
function allOf<T>(value: unknown, read: (row: Entries) => T | undefined): T[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_LEDGER_ITEMS) return undefined;
  const items = value.map((item) => read(entriesOf(item))).filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}

/** NaN, which is neither more nor less than any number, for anything but bytes. */
const bytesIn = (row: Entries, key: string): number => toBytes(row.get(key)) ?? Number.NaN;
const toBytes = (value: unknown): number | undefined =>
  isCount(value) && value <= MAX_LEDGER_BYTES ? value : undefined;
const isTime = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;
