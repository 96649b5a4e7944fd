/** The final segments and their blocks, in the current format and in that of 2.0 and before (`history`). */
import { addUp } from '../../base/collections.ts';
import type { StringInterner } from '../../base/interners.ts';
import { fromRows, type RowOf } from '../../base/table.ts';
import { type DictSink, Tag, type ValueView } from '../pickle/types.ts';
import { type FieldReader, Sink } from './field-reader.ts';
import {
  BLOCK_COLUMNS,
  BlockState,
  type BlockTable,
  NO_STACK,
  SEGMENT_COLUMNS,
  type SegmentTable,
  type SnapshotWarning,
} from './tables.ts';

type BlockRow = RowOf<typeof BLOCK_COLUMNS>;

/** One segment's dictionary. There are few, so each is an object. */
export interface SegmentRow extends Omit<RowOf<typeof SEGMENT_COLUMNS>, 'firstBlock'> {
  readonly device: number;
  readonly blocks: readonly BlockRow[];
}

interface HistoryRow {
  readonly realBytes: number;
  readonly stack: number;
}

interface Value {
  readonly tag: number;
  readonly val: number;
}

/** What can be wrong, and how it was handled. {n} is the number of affected segments or blocks. */
const CONTRADICTIONS = {
  overlap: '{n} segments overlap another one; they are ignored.',
  overfull:
    '{n} segments have more allocated or active bytes than they hold; they are shown as written.',
  outside: '{n} blocks lie outside their segment; they are shown as written.',
  blockOverlap: '{n} blocks overlap another one; they are shown as written.',
  requested: '{n} blocks are smaller than what was requested; their own size is used.',
} as const;
type Contradiction = keyof typeof CONTRADICTIONS;

export class SegmentSink {
  readonly segments: SegmentRow[] = [];
  /** Of the segments whose tables were built. */
  readonly #contradictions = new Map<Contradiction, number>();
  readonly #fields: FieldReader;
  readonly #strings: StringInterner;
  readonly #history: HistoryRow[] = [];
  readonly #blocks: BlockRow[] = [];

  constructor(fields: FieldReader, strings: StringInterner) {
    this.#fields = fields;
    this.#strings = strings;
  }

  bindHistory(keys: readonly string[]): DictSink {
    return (view, first) => {
      const { number, stack } = this.#reader(keys, view, first);
      return this.#history.push({ realBytes: number('real_size'), stack: stack(NO_STACK) }) - 1;
    };
  }

  bindBlock(keys: readonly string[]): DictSink {
    return (view, first) => {
      const { value, number, stack, rows } = this.#reader(keys, view, first);
      const state = this.#blockState(value('state'));
      // Newest first: entry 0 is the allocation that holds the block now, or held it last.
      const [past] = rows('history', Sink.History, this.#history);
      const address = value('address');
      const sizeBytes = number('size');
      const requestedBytes =
        value('requested_size') === undefined
          ? (past?.realBytes ?? sizeBytes)
          : number('requested_size');
      const block = {
        address:
          address === undefined ? Number.NaN : this.#fields.address(address.tag, address.val),
        sizeBytes,
        // Inactive blocks keep the requested size of their last user. It is stale, so use 0.
        requestedBytes: state === BlockState.Inactive ? 0 : requestedBytes,
        state,
        stack: stack(past?.stack ?? NO_STACK),
      };
      return this.#blocks.push(block) - 1;
    };
  }

  bindSegment(keys: readonly string[]): DictSink {
    const fields = this.#fields;
    return (view, first) => {
      const { value, number, stack, rows } = this.#reader(keys, view, first);
      const address = value('address');
      const stream = value('stream') ?? { tag: Tag.Int, val: 0 };
      const device = value('device') ?? { tag: Tag.Int, val: 0 };
      const pool = value('segment_pool_id');
      const type = value('segment_type');
      const expandable = value('is_expandable');
      const row: SegmentRow = {
        device: fields.device(device.tag, device.val),
        address:
          address === undefined
            ? fields.bad('address', 0)
            : fields.address(address.tag, address.val),
        totalBytes: number('total_size'),
        allocatedBytes: number('allocated_size'),
        activeBytes: number('active_size'),
        requestedBytes: number('requested_size'),
        stream: fields.stream(stream.tag, stream.val),
        isSmall: Number(type?.tag === Tag.String && this.#strings.get(type.val) === 'small'),
        pool: pool === undefined ? 0 : fields.pool(pool.tag, pool.val),
        isExpandable: Number(expandable?.tag === Tag.Bool && expandable.val === 1),
        stack: stack(NO_STACK),
        blocks: rows('blocks', Sink.Block, this.#blocks),
      };
      return this.segments.push(row) - 1;
    };
  }

  tables(rows: readonly SegmentRow[]): { segments: SegmentTable; blocks: BlockTable } {
    const byAddress = [...rows].sort((a, b) => a.address - b.address);
    for (const { blocks } of byAddress) this.#fields.countListed(blocks.length, 'segments');
    const blocks: BlockRow[] = [];
    const segments: RowOf<typeof SEGMENT_COLUMNS>[] = [];
    let end = -Infinity;
    for (const segment of byAddress) {
      if (segment.address < end) {
        this.#count('overlap');
        continue;
      }
      end = segment.address + segment.totalBytes;
      segments.push({ ...segment, firstBlock: blocks.length });
      for (const block of this.#placed(segment)) blocks.push(block);
    }
    const table = fromRows(SEGMENT_COLUMNS, segments);
    table.firstBlock[segments.length] = blocks.length;
    return { segments: table, blocks: fromRows(BLOCK_COLUMNS, blocks) };
  }

  get warnings(): SnapshotWarning[] {
    return [...this.#contradictions].map(([kind, count]) => ({
      code: 'contradiction',
      message: CONTRADICTIONS[kind].replace('{n}', String(count)),
    }));
  }

  /** Old versions wrote no block addresses. Blocks fill their segment without gaps, so addresses follow. */
  *#placed(segment: SegmentRow): Iterable<BlockRow> {
    const { totalBytes, allocatedBytes, activeBytes } = segment;
    if (Math.max(allocatedBytes, activeBytes) > totalBytes) this.#count('overfull');
    let next = segment.address;
    let end = -Infinity;
    for (const block of segment.blocks) {
      const { sizeBytes, requestedBytes } = block;
      const address = Number.isNaN(block.address) ? next : block.address;
      next = address + sizeBytes;
      if (requestedBytes > sizeBytes) this.#count('requested');
      if (address < segment.address || next > segment.address + totalBytes) this.#count('outside');
      else if (address < end) this.#count('blockOverlap');
      end = Math.max(end, next);
      yield { ...block, address, requestedBytes: Math.min(requestedBytes, sizeBytes) };
    }
  }

  #count(kind: Contradiction): void {
    addUp(this.#contradictions, kind, 1);
  }

  /** C++ writes active_pending_free; the documentation says active_awaiting_free. */
  #blockState(value: Value | undefined): BlockState {
    const word = value?.tag === Tag.String ? this.#strings.get(value.val) : '';
    if (word === 'active_allocated') return BlockState.Allocated;
    if (word === 'active_pending_free' || word === 'active_awaiting_free')
      return BlockState.PendingFree;
    if (word !== 'inactive') this.#fields.bad('state', 0);
    return BlockState.Inactive;
  }

  /** Reads values by key from the dictionary whose first value is at stack slot `first`. */
  #reader(keys: readonly string[], { tags, vals }: ValueView, first: number) {
    const fields = this.#fields;
    const value = (key: string): Value | undefined => {
      const at = first + 2 * keys.lastIndexOf(key);
      return at < first ? undefined : { tag: tags[at], val: vals[at] };
    };
    return {
      value,
      number: (key: string): number => {
        const found = value(key);
        return found === undefined ? 0 : fields.number(found.tag, found.val, key);
      },
      stack: (missing: number): number => {
        const frames = value('frames');
        return frames === undefined ? missing : fields.stack(frames.tag, frames.val);
      },
      /** The rows of a sink that a list holds. */
      rows: <T>(key: string, sink: number, all: readonly T[]): T[] => {
        const list = value(key);
        const runs = list === undefined ? [] : fields.rows(list.tag, list.val, sink, key);
        return runs.flatMap(({ first, count }) => all.slice(first, first + count));
      },
    };
  }
}
