/** How the loader gets its bytes; the browser and Node each make one. */
import type { SnapshotDecoder } from '../snapshot/decoder.ts';
import type { FileInfo, Snapshot } from '../snapshot/tables.ts';

export interface ByteSource {
  readonly name: string;
  /** Bytes in all; undefined when a server does not say. */
  readonly size: number | undefined;
  /**
   * The bytes from the start, in chunks of any size. May be called again (the general decoder re-reads).
   * A chunk is lent until the next one is asked for, since its memory may be read into again: who
   * keeps any of it makes a copy.
   */
  chunks(): AsyncIterable<Uint8Array>;
}

/** What core cannot do itself. */
export interface Platform {
  /** Native gzip decompression; throws where the data are broken or cut short. */
  gunzip(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

export interface ReadProgress {
  readonly readBytes: number;
  readonly totalBytes: number | undefined;
  readonly events: number;
}

export interface ReadMoment {
  /** Share of the file that was read, 0 to 1; undefined where its size is not known. */
  readonly share: number | undefined;
  /** No more is read. */
  readonly isEnd: boolean;
}

export interface ReadOptions {
  /** Open the whole events before a fault and mark the snapshot as partial. */
  readonly allowPartial?: boolean;
  /** Called at most about 20 times a second. */
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Called while a pickle is read, after each chunk, and once more where it ends or breaks off. */
  readonly onRead?: (decoder: SnapshotDecoder, moment: ReadMoment) => void;
}

export interface ReadResult {
  readonly snapshot: Snapshot;
  readonly file: FileInfo;
}
