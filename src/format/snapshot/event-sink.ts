/** Writes the dictionaries of trace entries into columns. This is the hottest code after the opcode loop. */

import { getOrMake } from '../../base/collections.ts';
import { lowest } from '../../base/extremes.ts';
import {
  type CapacityPolicy,
  type GrowableColumn,
  growableFloat64,
  growableInt32,
} from '../../base/growable.ts';
import type { StringInterner } from '../../base/interners.ts';
import {
  type Column,
  type ColumnSpec,
  type ColumnType,
  createTable,
  finished,
  grow,
  pick,
  release,
  tableFrom,
} from '../../base/table.ts';
import { corrupt } from '../pickle/errors.ts';
import type { RetainedValues } from '../pickle/retained-values.ts';
import { type DictSink, Tag } from '../pickle/types.ts';
import type { FieldReader } from './field-reader.ts';
import { ACTION_NAMES, EVENT_COLUMNS, type EventTable, NO_STACK, TraceAction } from './tables.ts';

/** Columns that every event fills. */
const DENSE_COLUMNS = pick(EVENT_COLUMNS, [
  'action',
  'address',
  'sizeBytes',
  'stream',
  'stack',
  'timeUs',
  'pool',
]);
export type PartialEvents = Pick<EventTable, keyof typeof DENSE_COLUMNS>;

const FIRST_CAPACITY = 1 << 10;

/** Keys read here one by one. The schema lists the keys of carried columns. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'action',
  'addr',
  'device_free',
  'size',
  'stream',
  'time_us',
  'frames',
  'pool_id',
  // Extra keys that repeat what the trace's place in the file says.
  'device',
  'segment_pool_id',
]);

/** Most events to keep for each unknown key, and most such keys. */
const MAX_UNKNOWN = 10_000;
const MAX_UNKNOWN_KEYS = 100;
const FURTHER_KEYS = '…';
/** An event has at least two keys and two values. */
const BYTES_PER_EVENT = 10;
export class EventSink {
  length = 0;
  readonly oomDeviceFreeBytes = new Map<number, number>();
  readonly unknownActions = new Map<number, string>();
  readonly unknownKeys = new Map<string, Map<number, string>>();
  /** Events with each unknown key, including those not kept. */
  readonly unknownKeyCounts = new Map<string, number>();
  /** See Snapshot.startUs; known after the last event. */
  startUs = 0;

  readonly #strings: StringInterner;
  readonly #kept: RetainedValues;
  readonly #fields: FieldReader;
  readonly #growth: CapacityPolicy;
  /** Have spare rows, and are replaced when they grow. */
  columns = createTable(DENSE_COLUMNS, FIRST_CAPACITY);
  #finished: EventTable | undefined;
  #hasTime = false;
  #hasPool = false;
  /** TraceAction by string row; 255 means not looked up yet. */
  readonly actionOfString = new Uint8Array(1 << 16).fill(255);
  readonly #carried = carriedColumns();
  readonly #notAvailable: number;

  constructor(
    strings: StringInterner,
    kept: RetainedValues,
    fields: FieldReader,
    growth: CapacityPolicy,
  ) {
    this.#growth = growth;
    this.#strings = strings;
    this.#kept = kept;
    this.#fields = fields;
    this.#notAvailable = strings.internText('N/A');
  }

  /** A sink for events whose dictionaries have exactly these keys, in this order. */
  bind(keys: readonly string[]): DictSink {
    // Offset of each key's value from the first value; -1 when the key is missing. For a repeated key the last value
    // counts, as in Python.
    const offset = (key: string) => keys.lastIndexOf(key) * 2;
    const has = (key: string) => keys.includes(key);
    const [action, addr, size, stream] = ['action', 'addr', 'size', 'stream'].map(offset);
    const [time, frames, pool, deviceFree] = ['time_us', 'frames', 'pool_id', 'device_free'].map(
      offset,
    );
    const rare = this.#bindRare(keys);
    if (has('time_us')) this.#hasTime = true;
    if (has('pool_id')) this.#hasPool = true;
    const fields = this.#fields;
    return ({ tags, vals }, first) => {
      const row = this.length++;
      if (row === this.columns.action.length) {
        if (!this.#growth.allows(row, BYTES_PER_EVENT))
          throw corrupt(`it holds ${row} events in too few bytes`);
        this.columns = grow(DENSE_COLUMNS, this.columns, this.#growth.next(row));
      }
      const columns = this.columns;
      columns.action[row] = this.#actionOf(tags[first + action], vals[first + action], row);
      columns.address[row] = addr < 0 ? 0 : fields.address(tags[first + addr], vals[first + addr]);
      columns.sizeBytes[row] =
        size < 0
          ? fields.bad('size', 0)
          : fields.number(tags[first + size], vals[first + size], 'size');
      columns.stream[row] =
        stream < 0
          ? fields.stream(Tag.Int, 0)
          : fields.stream(tags[first + stream], vals[first + stream]);
      columns.stack[row] =
        frames < 0 ? NO_STACK : fields.stack(tags[first + frames], vals[first + frames]);
      columns.timeUs[row] =
        time < 0 ? Number.NaN : fields.time(tags[first + time], vals[first + time]);
      // The fast path may have started this row and left a pool.
      columns.pool[row] = pool < 0 ? 0 : fields.pool(tags[first + pool], vals[first + pool]);
      if (deviceFree >= 0) {
        const free = fields.number(
          tags[first + deviceFree],
          vals[first + deviceFree],
          'device_free',
        );
        this.oomDeviceFreeBytes.set(row, free);
      }
      for (let i = 0; i < rare.length; i++) {
        const { offset: o, keep, isText } = rare[i];
        const tag = tags[first + o];
        const val = vals[first + o];
        const isDefault = isText && tag === Tag.String && this.isPlainText(val);
        if (!isDefault) keep(tag, val, row);
      }
      return row;
    };
  }

  get textKeys(): string[] {
    return [...this.#carried].flatMap(([key, { type }]) => (type === 'i32' ? [key] : []));
  }

  /** Records that the fast path has filled the rows before `length`, and which columns it found. */
  took(length: number, hasTime: boolean, hasPool: boolean): void {
    this.length = length;
    this.#hasTime ||= hasTime;
    this.#hasPool ||= hasPool;
  }

  /** Row 0 is ''. Nearly every event has '' or 'N/A' for each of its texts. */
  isPlainText(text: number): boolean {
    return text === 0 || text === this.#notAvailable;
  }

  keepText(key: string, row: number, text: number): void {
    this.#carried.get(key)?.set(row, text);
  }

  /** Keys that are mostly at their default, and keys that no known version writes. */
  #bindRare(keys: readonly string[]): readonly RareField[] {
    return keys.flatMap((key, i) => {
      if (KNOWN_KEYS.has(key) || keys.lastIndexOf(key) !== i) return [];
      const column = this.#carried.get(key);
      return [{ offset: 2 * i, keep: this.#keeperOf(key, column), isText: column?.type === 'i32' }];
    });
  }

  #keeperOf(key: string, column: CarriedColumn | undefined): RareField['keep'] {
    if (column === undefined) return (tag, val, row) => this.#keepUnknown(key, tag, val, row);
    if (column.type === 'i32') return (tag, val, row) => this.#keepText(key, column, tag, val, row);
    return (tag, val, row) => {
      if (tag !== Tag.None) column.set(row, this.#fields.number(tag, val, key));
    };
  }

  #keepText(key: string, column: CarriedColumn, tag: number, val: number, row: number): void {
    if (tag === Tag.String) {
      column.set(row, val);
    } else if (tag !== Tag.None && !(tag === Tag.List && val === 0)) {
      // forward_frames is a list of texts.
      if (key !== 'forward_frames' || !this.#isLines(tag, val)) this.#fields.bad(key, 0);
      column.set(row, this.#strings.internText(textOf(this.#kept.toValue(tag as Tag, val))));
    }
  }

  #isLines(tag: number, val: number): boolean {
    const items = tag === Tag.List ? this.#kept.items(tag, val) : undefined;
    return items?.every((item) => item.tag === Tag.String) ?? false;
  }

  #keepUnknown(key: string, tag: number, val: number, row: number): void {
    if (!this.unknownKeyCounts.has(key) && this.unknownKeyCounts.size >= MAX_UNKNOWN_KEYS) {
      this.#countUnknown(FURTHER_KEYS);
      return;
    }
    this.#countUnknown(key);
    const values = getOrMake(this.unknownKeys, key, () => new Map<number, string>());
    if (values.size < MAX_UNKNOWN) values.set(row, textOf(this.#kept.toValue(tag as Tag, val)));
  }

  #countUnknown(key: string): void {
    this.unknownKeyCounts.set(key, (this.unknownKeyCounts.get(key) ?? 0) + 1);
  }

  #actionOf(tag: number, val: number, row: number): number {
    const known = tag === Tag.String && val < 65_536 ? this.actionOfString[val] : 255;
    if (known < TraceAction.Unknown) return known;
    const word = textOf(this.#kept.toValue(tag as Tag, val));
    const index = ACTION_NAMES.indexOf(word);
    const action = index < 0 ? TraceAction.Unknown : index;
    if (action === TraceAction.Unknown) this.unknownActions.set(row, word);
    else if (tag === Tag.String && val < 65_536) this.actionOfString[val] = action;
    return action;
  }

  /** The columns so far, with spare room. Later events may replace them. */
  soFar(): PartialEvents {
    if (this.#finished !== undefined) return this.#finished;
    const { timeUs, ...columns } = this.columns;
    return { ...columns, timeUs: Number.isNaN(timeUs[0]) ? undefined : timeUs };
  }

  /** Times as they are if those since the first do not fit in 32 bits, which is up to 71 minutes. */
  #timesSinceFirst(): Column {
    const timeUs = this.columns.timeUs.subarray(0, this.length);
    const first = lowest(timeUs);
    const since = new Uint32Array(this.length);
    for (let i = 0; i < since.length; i++) {
      since[i] = timeUs[i] - first;
      if (since[i] !== timeUs[i] - first) return timeUs;
    }
    if (since.length > 0) this.startUs = first;
    return since;
  }

  /** All events in file order, as views on the columns: add no more afterwards. */
  finish(): EventTable {
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  #finish(): EventTable {
    const { length, columns } = this;
    const dense: Readonly<Record<string, Column | number | undefined>> = {
      ...columns,
      timeUs: this.#hasTime ? columns.timeUs : undefined,
      pool: this.#hasPool ? columns.pool : undefined,
    };
    return {
      ...tableFrom(EVENT_COLUMNS, length, (name, spec) => {
        if (spec.pickleKey !== undefined) return this.#carried.get(spec.pickleKey)?.finish(length);
        const column = dense[name];
        if (typeof column !== 'object') return undefined;
        const own = name === 'timeUs' ? this.#timesSinceFirst() : finished(column, spec, length);
        // Saves twice 46 MB for 5.7 million events.
        if (own.buffer !== column.buffer) release(column);
        return own;
      }),
      oomDeviceFreeBytes: this.oomDeviceFreeBytes,
      unknownActions: this.unknownActions,
      unknownKeys: this.unknownKeys,
    };
  }
}

interface RareField {
  readonly offset: number;
  /** Text that is mostly '' or 'N/A'. */
  readonly isText: boolean;
  readonly keep: (tag: number, val: number, row: number) => void;
}

/** Maximum length of one text: a list of texts may repeat a long one a thousand times. */
const MAX_TEXT = 1 << 16;

/** The carried columns of {@link EVENT_COLUMNS}, by their key in the file. */
function carriedColumns(): ReadonlyMap<string, CarriedColumn> {
  const columns = new Map<string, CarriedColumn>();
  for (const spec of Object.values<ColumnSpec>(EVENT_COLUMNS)) {
    if (spec.pickleKey !== undefined) columns.set(spec.pickleKey, new CarriedColumn(spec.type));
  }
  return columns;
}

/** A column that most files leave at its default. It takes no memory before the first event that differs. */
class CarriedColumn {
  readonly type: ColumnType;
  readonly #default: number;
  #column: GrowableColumn<Int32Array> | GrowableColumn<Float64Array> | undefined;

  /** @param type 'f64' for counts, 'i32' for rows of strings */
  constructor(type: ColumnType) {
    this.type = type;
    this.#default = type === 'f64' ? Number.NaN : -1;
  }

  set(row: number, value: number): void {
    this.#column ??= this.type === 'f64' ? growableFloat64() : growableInt32();
    while (this.#column.length < row) this.#column.push(this.#default);
    this.#column.push(value);
  }

  /** Undefined when every row has the default. */
  finish(length: number): Column | undefined {
    if (this.#column === undefined) return undefined;
    while (this.#column.length < length) this.#column.push(this.#default);
    return this.#column.finish();
  }
}

/** A value as text: lists of strings by line, dictionaries as JSON. */
function textOf(value: unknown): string {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return joinLines(value);
  if (value instanceof Map) return JSON.stringify(Object.fromEntries(value), bigIntAsText);
  return typeof value === 'object' ? JSON.stringify(value, bigIntAsText) : String(value ?? '');
}

function joinLines(lines: readonly string[]): string {
  let letters = 0;
  for (const [i, line] of lines.entries()) {
    letters += line.length;
    if (letters > MAX_TEXT) return `${lines.slice(0, i).join('\n')}\n…`;
  }
  return lines.join('\n');
}

function bigIntAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
