/** The final segments and their blocks, in the current format and in that of 2.0 and before (`history`). */
import { growableFloat64, growableInt32, growableUint8 } from '../../base/growable.ts';
import type { StringInterner } from '../../base/interners.ts';
import { type DictSink, Tag } from '../pickle/types.ts';
import { type FieldReader, Sink } from './field-reader.ts';
import {
  BlockState,
  type BlockTable,
  NO_STACK,
  type SegmentTable,
  type SnapshotWarning,
} from './tables.ts';

/** One segment's dictionary. There are few, so each is an object. `blocks` are rows of the block sink. */
export interface SegmentRow {
  readonly device: number;
  readonly address: number;
  readonly totalBytes: number;
  readonly allocatedBytes: number;
  readonly activeBytes: number;
  readonly requestedBytes: number;
  readonly stream: number;
  readonly isSmall: boolean;
  readonly pool: number;
  readonly isExpandable: boolean;
  readonly stack: number;
  readonly blocks: readonly number[];
}

interface HistoryRow {
  readonly realBytes: number;
  readonly stack: number;
}

type Value = { readonly tag: number; readonly val: number } | undefined;
type Read = (key: string) => Value;

export class SegmentSink {
  readonly segments: SegmentRow[] = [];
  /** Of the segments whose tables were built. */
  readonly contradictions = new Contradictions();
  readonly #fields: FieldReader;
  readonly #strings: StringInterner;
  readonly #history: HistoryRow[] = [];
  readonly #address = growableFloat64();
  readonly #size = growableFloat64();
  readonly #requested = growableFloat64();
  readonly #state = growableUint8();
  readonly #stack = growableInt32();

  constructor(fields: FieldReader, strings: StringInterner) {
    this.#fields = fields;
    this.#strings = strings;
  }

  bindHistory(keys: readonly string[]): DictSink {
    return (view, first) => {
      const read = reader(keys, view.tags, view.vals, first);
      return (
        this.#history.push({
          realBytes: this.#number(read, 'real_size'),
          stack: this.#stackOf(read),
        }) - 1
      );
    };
  }

  bindBlock(keys: readonly string[]): DictSink {
    return (view, first) => {
      const read = reader(keys, view.tags, view.vals, first);
      const state = this.#blockState(read('state'));
      const past = this.#lastHistory(read('history'));
      const address = read('address');
      // Inactive blocks keep the requested size of their last user. It is stale, so use 0.
      const requested =
        read('requested_size') === undefined
          ? past?.realBytes
          : this.#number(read, 'requested_size');
      this.#address.push(
        address === undefined ? Number.NaN : this.#fields.address(address.tag, address.val),
      );
      this.#size.push(this.#number(read, 'size'));
      this.#requested.push(
        state === BlockState.Inactive ? 0 : (requested ?? this.#number(read, 'size')),
      );
      this.#state.push(state);
      this.#stack.push(
        read('frames') === undefined ? (past?.stack ?? NO_STACK) : this.#stackOf(read),
      );
      return this.#state.length - 1;
    };
  }

  bindSegment(keys: readonly string[]): DictSink {
    return (view, first) => {
      const read = reader(keys, view.tags, view.vals, first);
      const address = read('address');
      const stream = read('stream');
      const device = read('device');
      const pool = read('segment_pool_id');
      const type = read('segment_type');
      const expandable = read('is_expandable');
      const row: SegmentRow = {
        device: device === undefined ? 0 : this.#fields.device(device.tag, device.val),
        address:
          address === undefined
            ? this.#fields.bad('address', 0)
            : this.#fields.address(address.tag, address.val),
        totalBytes: this.#number(read, 'total_size'),
        allocatedBytes: this.#number(read, 'allocated_size'),
        activeBytes: this.#number(read, 'active_size'),
        requestedBytes: this.#number(read, 'requested_size'),
        stream:
          stream === undefined
            ? this.#fields.stream(Tag.Int, 0)
            : this.#fields.stream(stream.tag, stream.val),
        isSmall: type?.tag === Tag.String && this.#strings.get(type.val) === 'small',
        pool: pool === undefined ? 0 : this.#fields.pool(pool.tag, pool.val),
        isExpandable: expandable?.tag === Tag.Bool && expandable.val === 1,
        stack: this.#stackOf(read),
        blocks: this.#rowsOf(read('blocks'), Sink.Block, 'blocks'),
      };
      return this.segments.push(row) - 1;
    };
  }

  tables(segments: readonly SegmentRow[]): { segments: SegmentTable; blocks: BlockTable } {
    const byAddress = [...segments].sort((a, b) => a.address - b.address);
    const sorted = this.contradictions.withoutOverlaps(byAddress);
    for (const { blocks } of byAddress) this.#fields.countListed(blocks.length, 'segments');
    const rows = sorted.flatMap((segment) => segment.blocks);
    const firstBlock = new Int32Array(sorted.length + 1);
    sorted.forEach((segment, i) => {
      firstBlock[i + 1] = firstBlock[i] + segment.blocks.length;
    });
    const float = (of: (segment: SegmentRow) => number) => Float64Array.from(sorted, of);
    return {
      segments: {
        length: sorted.length,
        address: float((s) => s.address),
        totalBytes: float((s) => s.totalBytes),
        allocatedBytes: float((s) => s.allocatedBytes),
        activeBytes: float((s) => s.activeBytes),
        requestedBytes: float((s) => s.requestedBytes),
        stream: Uint16Array.from(sorted, (s) => s.stream),
        isSmall: Uint8Array.from(sorted, (s) => Number(s.isSmall)),
        pool: Uint16Array.from(sorted, (s) => s.pool),
        isExpandable: Uint8Array.from(sorted, (s) => Number(s.isExpandable)),
        stack: Int32Array.from(sorted, (s) => s.stack),
        firstBlock,
      },
      blocks: {
        length: rows.length,
        address: this.#blockAddresses(sorted),
        sizeBytes: Float64Array.from(rows, (row) => this.#size.get(row)),
        requestedBytes: Float64Array.from(rows, (row) => this.#requestedOf(row)),
        state: Uint8Array.from(rows, (row) => this.#state.get(row)),
        stack: Int32Array.from(rows, (row) => this.#stack.get(row)),
      },
    };
  }

  #requestedOf(row: number): number {
    const [requested, size] = [this.#requested.get(row), this.#size.get(row)];
    if (requested > size) this.contradictions.count('requested');
    return Math.min(requested, size);
  }

  /** Old versions wrote no block addresses. Blocks fill their segment without gaps, so addresses follow. */
  #blockAddresses(sorted: readonly SegmentRow[]): Float64Array {
    const addresses: number[] = [];
    for (const segment of sorted) {
      let next = segment.address;
      const blocks = segment.blocks.map((row) => {
        const known = this.#address.get(row);
        const address = Number.isNaN(known) ? next : known;
        const totalBytes = this.#size.get(row);
        next = address + totalBytes;
        addresses.push(address);
        return { address, totalBytes };
      });
      this.contradictions.checkSegment(segment, blocks);
    }
    return Float64Array.from(addresses);
  }

  #number(read: Read, key: string): number {
    const value = read(key);
    return value === undefined ? 0 : this.#fields.number(value.tag, value.val, key);
  }

  #stackOf(read: Read): number {
    const frames = read('frames');
    return frames === undefined ? NO_STACK : this.#fields.stack(frames.tag, frames.val);
  }

  /** C++ writes active_pending_free; the documentation says active_awaiting_free. */
  #blockState(value: Value): BlockState {
    const word = value?.tag === Tag.String ? this.#strings.get(value.val) : '';
    if (word === 'active_allocated') return BlockState.Allocated;
    if (word === 'active_pending_free' || word === 'active_awaiting_free')
      return BlockState.PendingFree;
    if (word !== 'inactive') this.#fields.bad('state', 0);
    return BlockState.Inactive;
  }

  /** Newest first: entry 0 is the allocation that holds the block now, or held it last. */
  #lastHistory(value: Value): HistoryRow | undefined {
    const [row] = this.#rowsOf(value, Sink.History, 'history');
    return row === undefined ? undefined : this.#history[row];
  }

  #rowsOf(value: Value, sink: number, field: string): readonly number[] {
    if (value === undefined) return [];
    const runs = this.#fields.rows(value.tag, value.val, sink, field);
    return runs.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i));
  }
}

/** Reads values by key from the dictionary whose first value is at stack slot `first`. */
function reader(
  keys: readonly string[],
  tags: Uint8Array,
  vals: Float64Array,
  first: number,
): Read {
  return (key) => {
    const index = keys.lastIndexOf(key);
    return index < 0 ? undefined : { tag: tags[first + 2 * index], val: vals[first + 2 * index] };
  };
}

/** What can be wrong, and how it was handled. {n} is the number of affected segments or blocks. */
export const CONTRADICTIONS = {
  overlap: '{n} segments lie where another one does; they are left out.',
  overfull:
    '{n} segments have more allocated or active bytes than they hold; they are shown as written.',
  outside: '{n} blocks lie outside of their segment; they are shown as written.',
  blockOverlap: '{n} blocks lie where another one does; they are shown as written.',
  requested: '{n} blocks were requested larger than they are; their size is taken.',
} as const;
export type Contradiction = keyof typeof CONTRADICTIONS;

interface Piece {
  readonly address: number;
  readonly totalBytes: number;
}

/** Counts segments and blocks that no allocator has, and those dropped or clipped as a result. */
class Contradictions {
  readonly #counts = new Map<Contradiction, number>();

  count(kind: Contradiction, times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times);
  }

  get warnings(): SnapshotWarning[] {
    return [...this.#counts].map(([kind, count]) => ({
      code: 'contradiction',
      message: CONTRADICTIONS[kind].replace('{n}', String(count)),
    }));
  }

  /** Drops pieces that begin inside an earlier one. @param sorted by address */
  withoutOverlaps<T extends Piece>(sorted: readonly T[]): T[] {
    let end = -Infinity;
    const kept = sorted.filter(({ address, totalBytes }) => {
      const isFree = address >= end;
      if (isFree) end = address + totalBytes;
      return isFree;
    });
    if (kept.length < sorted.length) this.count('overlap', sorted.length - kept.length);
    return kept;
  }

  checkSegment(
    segment: Piece & { readonly allocatedBytes: number; readonly activeBytes: number },
    blocks: readonly Piece[],
  ): void {
    const segmentEnd = segment.address + segment.totalBytes;
    if (Math.max(segment.allocatedBytes, segment.activeBytes) > segment.totalBytes)
      this.count('overfull');
    let end = -Infinity;
    for (const { address, totalBytes } of blocks) {
      if (address < segment.address || address + totalBytes > segmentEnd) this.count('outside');
      else if (address < end) this.count('blockOverlap');
      end = Math.max(end, address + totalBytes);
    }
  }
}
