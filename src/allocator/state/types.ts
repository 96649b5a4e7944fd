/** Segments and blocks as the allocator had them after one event. */
import type { TableOf, TableSchema } from '../../base/table.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';

/** Row of {@link SegmentStates}. */
export type SegmentStateIndex = number;

export const SegmentKind = {
  /** One cudaMalloc. */
  Native: 0,
  /** An unbroken range of mapped pages of an expandable segment, as the file writes segments. */
  Expandable: 1,
  /**
   * A block that lies in no segment that the recording knows, alone: no segment events were
   * recorded, or the trace contradicts itself there. Its bytes are not reserved bytes.
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
  /** Mapped pieces that it consists of; 1 for native ones. */
  pieces: { type: 'i32' },
  /** Event that brought its oldest piece, and its newest; -1 is before the trace. */
  firstMapped: { type: 'i32' },
  lastMapped: { type: 'i32' },
  /** Of the piece at its lowest address, as PyTorch gives it. */
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

/** By address, those of kind None behind all others. */
export type SegmentStates = TableOf<typeof SEGMENT_STATE_COLUMNS>;

export const BLOCK_STATE_COLUMNS = {
  address: { type: 'f64' },
  sizeBytes: { type: 'f64' },
  /** BlockState of src/format/snapshot/tables.ts; Inactive is free. */
  state: { type: 'u8' },
  /** AllocationIndex; -1 for a free range. */
  allocation: { type: 'i32' },
} as const satisfies TableSchema;

/** Live blocks and the free ranges between them, in segment order and by address. They fill it. */
export type BlockStates = TableOf<typeof BLOCK_STATE_COLUMNS>;

export interface AllocatorState {
  /** The state after this event; -1 is before the trace. */
  readonly event: EventIndex;
  readonly segments: SegmentStates;
  readonly blocks: BlockStates;
}
