import { LoadError } from '../../base/load-error.ts';
import { SnapshotDecoder } from '../snapshot/decoder.ts';
import type { Snapshot } from '../snapshot/tables.ts';
import { type ByteStream, inPieces, type OpenBytes } from './byte-cursor.ts';
import { sourceFailure } from './failures.ts';
import type { ByteSource, ReadOptions } from './types.ts';

/**
 * Bytes read after the end of the pickle: writers pad with a few NULs, and a gzip's checksum comes last. The limit
 * stops bombs of zeros after a small snapshot.
 */
const MAX_TRAILING_BYTES = 64 * 2 ** 20;

/** Pickles of this size and larger load the fast path. The start page works without it. */
const FAST_PATH_FROM_BYTES = 2 ** 20;

export interface ReadPickle {
  readonly snapshot: Snapshot;
  readonly protocol: number | undefined;
  /** The error that cut the file short, if the snapshot holds only the events before it. */
  readonly partial: string | undefined;
}

/**
 * @throws LoadError of any code; `partialEvents` is the number of complete events before the error
 * @throws AbortError of the source, unchanged
 */
export async function readPickle(
  open: OpenBytes,
  meter: Meter,
  { allowPartial = false, onRead }: Pick<ReadOptions, 'allowPartial' | 'onRead'>,
): Promise<ReadPickle> {
  const decoder = new SnapshotDecoder();
  try {
    await pump(open, decoder, meter, onRead).finally(() =>
      onRead?.(decoder, { share: meter.share, isEnd: true }),
    );
    return { snapshot: decoder.finish(), protocol: decoder.protocol, partial: undefined };
  } catch (error) {
    return partialOf(decoder, error, allowPartial);
  }
}

async function pump(
  open: OpenBytes,
  decoder: SnapshotDecoder,
  meter: Meter,
  onRead: ReadOptions['onRead'],
): Promise<void> {
  let trailingBytes = 0;
  let bytes = 0;
  let isFast = false;
  for await (const chunk of inPieces(open())) {
    if (decoder.stopped) trailingBytes += chunk.length;
    if (trailingBytes > MAX_TRAILING_BYTES) return;
    bytes += chunk.length;
    // Extrapolate from the share of the file read so far; exact for a bare pickle.
    const { share } = meter;
    const totalBytes = share === undefined || share === 0 ? undefined : bytes / share;
    decoder.totalBytes = totalBytes;
    if (!isFast && (totalBytes ?? bytes) >= FAST_PATH_FROM_BYTES) {
      const { EventFastPath } = await import('../snapshot/event-fast-path.ts');
      decoder.attach(EventFastPath);
      isFast = true;
    }
    decoder.push(chunk);
    meter.events = decoder.eventCount;
    meter.report();
    await onRead?.(decoder, { share, isEnd: false });
  }
}

/** Returns the events before the error if the user asked for them; otherwise throws the error with their number. */
function partialOf(decoder: SnapshotDecoder, error: unknown, allowPartial: boolean): ReadPickle {
  const { callables, codeAt } = decoder.schema.machine;
  const [callable] = callables;
  const { failure } = asLoadError(error);
  const isNoSnapshot = failure.code === 'not-a-snapshot' || decoder.eventCount === 0;
  if (callable !== undefined && isNoSnapshot) throw holdsCode(callable, codeAt);
  const partial = failure.message;
  const snapshot = tryPartial(decoder, partial);
  const events = snapshot?.devices.reduce((sum, device) => sum + device.events.length, 0) ?? 0;
  if (snapshot === undefined || events === 0) throw new LoadError(failure);
  if (!allowPartial) throw new LoadError({ ...failure, partialEvents: events });
  return { snapshot, protocol: decoder.protocol, partial };
}

/** Undefined if the part that was read is not a snapshot: a part is offered only if it opens. */
function tryPartial(decoder: SnapshotDecoder, reason: string): Snapshot | undefined {
  if (decoder.eventCount === 0) return undefined;
  try {
    return decoder.finishPartial(reason);
  } catch (error) {
    asLoadError(error);
    return undefined;
  }
}

/**
 * Engines throw RangeError when a typed array cannot be allocated. Any other unknown error is a bug and is rethrown.
 */
function asLoadError(error: unknown): LoadError {
  if (error instanceof LoadError) return error;
  if (!(error instanceof RangeError)) throw error;
  return new LoadError({
    code: 'out-of-memory',
    message: `There is not enough memory for this snapshot (${error.message}).`,
    advice: 'Close other tabs, or record fewer events (max_entries of _record_memory_history).',
  });
}

function holdsCode(callable: string, byte: number | undefined): LoadError {
  return new LoadError({
    code: 'holds-code',
    message: `This pickle would call ${callable}. vramscope ran nothing. It contains no memory snapshot.`,
    advice:
      'Snapshots contain no code. Be careful with this file: pickle.load in Python would run that function.',
    byte,
  });
}

/** Ten reports a second: as often as a person can read a number. Each redraws a part of the page. */
const REPORT_EVERY_MS = 100;

/** Sits between the source and the decoder: counts bytes, reports progress, stops when cancelled. */
export class Meter {
  readonly #source: ByteSource;
  readonly #options: ReadOptions;
  #readBytes = 0;
  #highestBytes = 0;
  #lastReportMs = 0;
  /** Complete events decoded so far. The code that drives the decoder updates it. */
  events = 0;

  constructor(source: ByteSource, options: ReadOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** The size of the source, or the bytes read so far if it is unknown. */
  get bytes(): number {
    return this.#source.size ?? this.#highestBytes;
  }

  /** Share of the source read so far, 0 to 1; undefined if its size is unknown. */
  get share(): number | undefined {
    const { size } = this.#source;
    return size === undefined || size === 0 ? undefined : this.#readBytes / size;
  }

  /** The source's bytes from the start. Converts known errors of the source to LoadErrors. */
  async *open(): ByteStream & AsyncGenerator<Uint8Array> {
    this.#readBytes = 0;
    try {
      for await (const chunk of inPieces(this.#source.chunks())) {
        this.#readBytes += chunk.length;
        this.#highestBytes = Math.max(this.#highestBytes, this.#readBytes);
        this.report();
        yield chunk;
      }
    } catch (error) {
      throw sourceFailure(error, this.#source.name) ?? error;
    }
  }

  /** Reports progress, unless the last report was very recent. */
  report(): void {
    const nowMs = Date.now();
    if (this.#options.onProgress === undefined || nowMs - this.#lastReportMs < REPORT_EVERY_MS)
      return;
    this.#lastReportMs = nowMs;
    this.#options.onProgress({
      readBytes: this.#readBytes,
      totalBytes: this.#source.size,
      events: this.events,
    });
  }
}
