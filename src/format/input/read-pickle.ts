import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { CORRUPT_ADVICE, DeclinedError, truncatedPickle } from '../pickle/errors.ts';
import { SnapshotDecoder } from '../snapshot/decoder.ts';
import type { Snapshot, SnapshotWarning } from '../snapshot/tables.ts';
import { collectBytes, type OpenBytes } from './byte-cursor.ts';
import { isNotASnapshot } from './failures.ts';
import type { Meter } from './meter.ts';
import { SNAPSHOT_ADVICE } from './sniff.ts';
import type { ReadOptions } from './types.ts';

/**
 * The general decoder creates an object for every value: about six times the pickle's bytes, at 20 MB/s. 64 MiB take
 * 400 MB of memory and three seconds, which is the most a tab can bear.
 */
const MAX_GENERAL_BYTES = 64 * 2 ** 20;
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
  readonly decoder: 'columnar' | 'general';
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
    await pump(open, decoder, meter, onRead).finally(() => {
      onRead?.(decoder, { share: meter.share, isEnd: true });
    });
    const snapshot = decoder.finish();
    return { snapshot, protocol: decoder.protocol, decoder: 'columnar', partial: undefined };
  } catch (error) {
    if (!(error instanceof DeclinedError)) return partialOf(decoder, error, allowPartial);
    try {
      const snapshot = await readGeneral(open, error, decoder.eventCount > 0);
      return { snapshot, protocol: decoder.protocol, decoder: 'general', partial: undefined };
    } catch (failure) {
      return partialOf(decoder, failure, allowPartial);
    }
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
  for await (const chunk of open()) {
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
    onRead?.(decoder, { share, isEnd: false });
  }
}

/** Returns the events before the error if the user asked for them; otherwise throws the error with their number. */
function partialOf(decoder: SnapshotDecoder, error: unknown, allowPartial: boolean): ReadPickle {
  const failure = asLoadError(error).failure;
  const partial = failure.message;
  const snapshot = tryPartial(decoder, partial);
  const events = snapshot?.devices.reduce((sum, device) => sum + device.events.length, 0) ?? 0;
  if (snapshot === undefined || events === 0) throw new LoadError(failure);
  if (!allowPartial) throw new LoadError({ ...failure, partialEvents: events });
  return { snapshot, protocol: decoder.protocol, decoder: 'columnar', partial };
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
  if (/call stack/i.test(error.message)) return nestsTooDeep();
  return new LoadError({
    code: 'out-of-memory',
    message: `There is not enough memory for this snapshot (${error.message}).`,
    advice: 'Close other tabs, or record fewer events (max_entries of _record_memory_history).',
  });
}

function nestsTooDeep(): LoadError {
  return new LoadError({
    code: 'not-a-snapshot',
    message: 'This file nests deeper than any memory snapshot.',
    advice: SNAPSHOT_ADVICE,
  });
}

/**
 * Reads the file again with the general decoder.
 * @param cause why the columnar decoder gave up
 * @param hasEvents whether it had read events. If not, an error in the general decoder too probably means damage.
 */
async function readGeneral(
  open: OpenBytes,
  cause: DeclinedError,
  hasEvents: boolean,
): Promise<Snapshot> {
  const bytes = await collectBytes(open(), MAX_GENERAL_BYTES);
  if (bytes === undefined) throw tooBig(cause);
  // Few files need it, so load it on demand.
  const { isReadable, unpickle } = await import('./unpickle.ts');
  const { snapshotFromValue } = await import('../snapshot/from-value.ts');
  if (!isReadable(bytes)) throw tooBig(cause);
  const { value, callables, failure } = unpickle(bytes);
  if (failure !== undefined && (hasEvents || callables.length === 0)) {
    throw isEndOfFile(failure) ? truncatedPickle(bytes.length) : brokenPickle(cause);
  }
  try {
    const snapshot = snapshotFromValue(value);
    return { ...snapshot, warnings: [...snapshot.warnings, generalWarning(cause, callables)] };
  } catch (error) {
    if (!(error instanceof LoadError)) throw brokenPickle(cause);
    if (!isNotASnapshot(error)) throw error;
    throw callables.length > 0 ? holdsCode(callables[0], cause.byte) : notASnapshot();
  }
}

function isEndOfFile(failure: unknown): boolean {
  return /unexpected end of file|could not find end of line/i.test(errorText(failure));
}

function generalWarning({ reason }: DeclinedError, callables: readonly string[]): SnapshotWarning {
  const named =
    callables.length === 0
      ? ''
      : ` It names ${callables.map(printable).join(', ')}; nothing was run.`;
  const message = `Read by the slower general decoder (${reason}).${named}`;
  return { code: 'general-decoder', message };
}

function holdsCode(callable: string, byte: number | undefined): LoadError {
  return new LoadError({
    code: 'holds-code',
    message: `This pickle would call ${printable(callable)}. vramscope ran nothing. It contains no memory snapshot.`,
    advice:
      'Snapshots contain no code. Be careful with this file: pickle.load in Python would run that function.',
    byte,
  });
}

/** Names come from the file: shorten them and remove control characters. */
function printable(name: string): string {
  const clean = name.replace(/[^\w.<>-]+/g, '?');
  return clean.length > 80 ? `${clean.slice(0, 80)}…` : clean;
}

function notASnapshot(): LoadError {
  return new LoadError({
    code: 'not-a-snapshot',
    message: 'This pickle contains no memory snapshot.',
    advice: SNAPSHOT_ADVICE,
  });
}

function tooBig(cause: DeclinedError): LoadError {
  if (cause.holdsCode) return holdsCode(cause.callable || 'code', cause.byte);
  return new LoadError({
    code: 'unsupported-pickle',
    message: `PyTorch did not write this pickle (${cause.reason}), and it is too large for the general decoder.`,
    advice: SNAPSHOT_ADVICE,
    byte: cause.byte,
  });
}

/** Both decoders failed: most likely damage that looks like an opcode. */
function brokenPickle({ reason, byte }: DeclinedError): LoadError {
  return new LoadError({
    code: 'corrupt',
    message: `The pickle is damaged, or PyTorch did not write it: ${reason}.`,
    advice: CORRUPT_ADVICE,
    byte,
  });
}
