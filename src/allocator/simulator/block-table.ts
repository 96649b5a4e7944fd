/** Blocks of the simulated allocator. Their owner is an arena: one stream's part of a pool. */
import { enlarged } from '../../base/growable.ts';
import { BlockChain, type BlockRow } from '../replay/block-chain.ts';

/** Used: allocated, or its free waits for another stream. Unmapped: address space of an expandable segment. */
export const BlockUse = { Free: 0, Used: 1, Unmapped: 2 } as const;
export type BlockUse = (typeof BlockUse)[keyof typeof BlockUse];

export class BlockTable extends BlockChain {
  /** {@link BlockUse} */
  use = new Uint8Array(256);
  isExpandable = new Uint8Array(256);
  /** The pool's search count when the block became free; its age is the number of searches since then. */
  freedAt = new Float64Array(256);

  override add(
    address: number,
    sizeBytes: number,
    arena: number,
    use: BlockUse = BlockUse.Free,
  ): BlockRow {
    const row = super.add(address, sizeBytes, arena);
    this.use[row] = use;
    this.isExpandable[row] = 0;
    return row;
  }

  /** @param use state of the rest */
  override cut(row: BlockRow, bytes: number, use: BlockUse = BlockUse.Free): BlockRow {
    const rest = super.cut(row, bytes);
    this.use[rest] = use;
    this.isExpandable[rest] = this.isExpandable[row];
    return rest;
  }

  protected override enlarge(): void {
    super.enlarge();
    this.use = enlarged(this.use);
    this.isExpandable = enlarged(this.isExpandable);
    this.freedAt = enlarged(this.freedAt);
  }
}
