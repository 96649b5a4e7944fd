/** Events as rows of a table: which ones, and what each shows. Plain data, sent to the page. */

import type { AllocationIndex, Counters } from '../../allocator/replay/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { CarriedValues, FrameView, StackKind, StackView } from '../model/types.ts';

/** What all must hold for an event to be listed. Undefined: no matter. */
export interface EventFilter {
  /** PyTorch's words, unknown ones as written. */
  readonly actions: readonly string[] | undefined;
  /** Bytes as the event says them, both ends included. */
  readonly minBytes: number | undefined;
  readonly maxBytes: number | undefined;
  /** Position in the device's list of streams. */
  readonly stream: number | undefined;
  /** As {@link EventFacets.pools} names them. */
  readonly pool: string | undefined;
  /** Events from `from` to before `to`. */
  readonly window: { readonly from: EventIndex; readonly to: EventIndex } | undefined;
  readonly allocation: AllocationIndex | undefined;
}

/**
 * What a search lets through (core/search): events of matching allocations, and events of no
 * allocation by their stack. Undefined: all.
 */
export interface SearchMasks {
  /** By AllocationIndex. */
  readonly allocations: Uint8Array | undefined;
  /** By stack + 1, so that row 0 is "no stack". */
  readonly stacks: Uint8Array | undefined;
}

export interface ActionCount {
  readonly action: string;
  readonly count: number;
}

/** What there is to filter by. */
export interface EventFacets {
  /** By position; PyTorch's handle as text. */
  readonly streams: readonly string[];
  /** 'small', 'large', and private pools as '(1, 0)'. */
  readonly pools: readonly string[];
}

/** The other end of what an event begins or ends. */
export type EventPair =
  | { readonly kind: 'event'; readonly event: EventIndex; readonly action: string }
  /** It was there when recording began. */
  | { readonly kind: 'before-trace' }
  /** It was still there when the trace ended. */
  | { readonly kind: 'after-trace' }
  /** The event contradicts what is known: a free of a block that nobody allocated. */
  | { readonly kind: 'unknown' }
  /** Events that begin and end nothing: oom, snapshot, annotate. */
  | { readonly kind: 'none' };

export interface EventRow {
  readonly event: EventIndex;
  /** PyTorch's word, also one that this version does not know. */
  readonly action: string;
  /** Microseconds since the first event; NaN without times. */
  readonly timeUs: number;
  /** As PyTorch's viewer writes it: b7f064c000000_2, s7f064c000000_0 for segments; '' without one. */
  readonly address: string;
  /** As the event says: requested bytes of alloc and free, real bytes of segments. */
  readonly sizeBytes: number;
  readonly stream: string;
  /** 'small' or 'large'; undefined where the event belongs to no block or segment that is known. */
  readonly pool: 'small' | 'large' | undefined;
  /** '(1, 0)'; undefined for the default pool. */
  readonly privatePool: string | undefined;
  /** After the event. */
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** The user's own line to look at first. */
  readonly frame: FrameView | undefined;
  /** The operation that it led to; undefined where that is the same. */
  readonly leafFrame: FrameView | undefined;
  readonly stackKind: StackKind;
  /** Label of the allocation it belongs to. */
  readonly allocation: string | undefined;
  /** An alloc's free (its request, where that is recorded), a free's alloc, and so with segments. */
  readonly pair: EventPair;
}

/** All that is known of one event. */
export interface EventDetails extends EventRow, CarriedValues {
  readonly counters: Counters;
  readonly stack: StackView;
  /** A free with the stack of its alloc: PyTorch repeats it under context='alloc'. */
  readonly stackIsAllocStack: boolean;
  /** Bytes of the block, or NaN where the event belongs to none. */
  readonly blockBytes: number;
  /** oom only: bytes that the driver said were free; NaN where it did not say. */
  readonly deviceFreeBytes: number;
  /** The other events of the same allocation or segment, in order. */
  readonly related: readonly { readonly event: EventIndex; readonly action: string }[];
  /** Keys that no version we know of writes, as text. */
  readonly unknownKeys: readonly { readonly key: string; readonly value: string }[];
  /** How it contradicts the state before it, where it does and that was kept. */
  readonly anomaly: string | undefined;
}
