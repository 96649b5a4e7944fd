/** How the loader gets its bytes. The browser and Node each provide an implementation. */
import type { SnapshotDecoder } from '../snapshot/decoder.ts';
import type { FileInfo, Snapshot } from '../snapshot/tables.ts';

export interface ByteSource {
  readonly name: string;
  /** Total bytes; undefined when a server does not say. */
  readonly size: number | undefined;
  /**
   * The bytes from the start, in chunks of any size. May be called again (the general decoder rereads). A chunk is
   * valid only until the next is requested, because its memory may be reused: copy what you keep.
   */
  chunks(): AsyncIterable<Uint8Array>;
}

/** What this code cannot do on its own. */
export interface Platform {
  /** Native gzip decompression. Throws if the data is damaged or cut short. */
  gunzip(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

export interface ReadProgress {
  readonly readBytes: number;
  readonly totalBytes: number | undefined;
  readonly events: number;
}

export interface ReadMoment {
  /** Share of the file read so far, 0 to 1; undefined if its size is unknown. */
  readonly share: number | undefined;
  /** Reading has ended. */
  readonly isEnd: boolean;
}

export interface ReadOptions {
  /** Opens the complete events before an error and marks the snapshot as partial. */
  readonly allowPartial?: boolean;
  /** Called at most about 20 times a second. */
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Called after each piece of a pickle, and once more where it ends or breaks off. The next waits for its result. */
  readonly onRead?: (decoder: SnapshotDecoder, moment: ReadMoment) => Promise<void> | void;
}

export interface ReadResult {
  readonly snapshot: Snapshot;
  readonly file: FileInfo;
}
