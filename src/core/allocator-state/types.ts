/** Segments and blocks as the allocator had them after one event. */
import type { EventIndex } from '../snapshot/tables.ts';

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

/** By address, those of kind None behind all others. */
export interface SegmentStates {
  readonly length: number;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  /** {@link SegmentKind} */
  readonly kind: Uint8Array;
  readonly isSmall: Uint8Array;
  readonly pool: Uint16Array;
  readonly stream: Uint16Array;
  /** Mapped pieces that it consists of; 1 for native ones. */
  readonly pieces: Int32Array;
  /** Event that brought its oldest piece, and its newest; -1 is before the trace. */
  readonly firstMapped: Int32Array;
  readonly lastMapped: Int32Array;
  /** Of the piece at its lowest address, as PyTorch gives it. */
  readonly stack: Int32Array;
  /** Blocks of segment i are the rows firstBlock[i] to firstBlock[i + 1]; length + 1 entries. */
  readonly firstBlock: Int32Array;
  readonly liveBlocks: Int32Array;
  readonly allocatedBytes: Float64Array;
  readonly pendingBytes: Float64Array;
  readonly largestFreeBytes: Float64Array;
  /** Requested bytes of its live blocks, where known. */
  readonly requestedBytes: Float64Array;
  /** Bytes of the blocks whose requested size is unknown. */
  readonly unknownBytes: Float64Array;
}

/** Live blocks and the free ranges between them, in segment order and by address. They fill it. */
export interface BlockStates {
  readonly length: number;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  /** BlockState of core/snapshot/tables.ts; Inactive is free. */
  readonly state: Uint8Array;
  /** AllocationIndex; -1 for a free range. */
  readonly allocation: Int32Array;
}

export interface AllocatorState {
  /** The state after this event; -1 is before the trace. */
  readonly event: EventIndex;
  readonly segments: SegmentStates;
  readonly blocks: BlockStates;
}
