/** Segments and blocks as the allocator had them after one event. */
import type { TableOf, TableSchema } from '../../base/table.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

export type SegmentStateIndex = number;

export const SegmentKind = {
  /** One cudaMalloc. */
  Native: 0,
  /** An unbroken range of mapped pages of an expandable segment, as the file writes segments. */
  Expandable: 1,
  /**
   * A single block outside all recorded segments: no segment events were recorded, or the trace contradicts itself
   * there. Its bytes are not reserved bytes.
   */
  None: 2,
} as const;
export type SegmentKind = (typeof SegmentKind)[keyof typeof SegmentKind];

export const SEGMENT_STATE_COLUMNS = {
  address: { type: 'f64' },
  sizeBytes: { type: 'f64' },
  /** {@link SegmentKind} */
  kind: { type: 'u8' },
  isSmall: { type: 'u8' },
  pool: { type: 'u16' },
  stream: { type: 'u16' },
  /** Number of mapped pieces; 1 for native ones. */
  pieces: { type: 'i32' },
  /** Events that mapped its oldest and its newest piece; -1 is before the trace. */
  firstMapped: { type: 'i32' },
  lastMapped: { type: 'i32' },
  /** Of the piece at its lowest address, as in PyTorch. */
  stack: { type: 'i32' },
  /** Blocks of segment i are the rows firstBlock[i] to firstBlock[i + 1]; length + 1 entries. */
  firstBlock: { type: 'i32', isEdges: true },
  liveBlocks: { type: 'i32' },
  allocatedBytes: { type: 'f64' },
  pendingBytes: { type: 'f64' },
  largestFreeBytes: { type: 'f64' },
  /** Requested bytes of its live blocks, where known. */
  requestedBytes: { type: 'f64' },
  /** Bytes of the blocks whose requested size is unknown. */
  unknownBytes: { type: 'f64' },
} as const satisfies TableSchema;

/** By address; those of kind None come last. */
export type SegmentStates = TableOf<typeof SEGMENT_STATE_COLUMNS>;

export const BLOCK_STATE_COLUMNS = {
  address: { type: 'f64' },
  sizeBytes: { type: 'f64' },
  /** BlockState of src/format/snapshot/tables.ts; Inactive is free. */
  state: { type: 'u8' },
  /** AllocationIndex; -1 for a free range. */
  allocation: { type: 'i32' },
} as const satisfies TableSchema;

/** Live blocks and the free ranges between them, in segment order and by address. They fill their segment. */
export type BlockStates = TableOf<typeof BLOCK_STATE_COLUMNS>;

export interface AllocatorState {
  /** The state after this event; -1 is before the trace. */
  readonly event: EventIndex;
  readonly segments: SegmentStates;
  readonly blocks: BlockStates;
}
