import { CancelledError } from '../base/cancelled.ts';
import { LoadError } from '../base/load-error.ts';
import { DeclinedError } from '../pickle/types.ts';
import { SnapshotDecoder } from '../snapshot/decoder.ts';
import type { Snapshot, SnapshotWarning } from '../snapshot/tables.ts';
import { collectBytes, type OpenBytes } from './byte-cursor.ts';
import { errorText } from './failures.ts';
import { findSnapshot } from './find-snapshot.ts';
import type { Meter } from './meter.ts';
import { SNAPSHOT_ADVICE } from './sniff.ts';
import { type Unpickled, unpickle } from './unpickle.ts';

/**
 * The general decoder makes an object of every value: about six times the pickle's bytes, read at
 * 20 MB/s. 64 MiB are 400 MB of memory and three seconds, as much as one can ask of a tab.
 */
export const MAX_GENERAL_BYTES = 64 * 2 ** 20;
/**
 * Bytes after the pickle that are still read (writers pad with a few NULs, and a gzip's checksum
 * comes last). A bomb of zeros after a small snapshot ends here.
 */
const MAX_TRAILING_BYTES = 64 * 2 ** 20;

export interface ReadPickle {
  readonly snapshot: Snapshot;
  readonly protocol: number | undefined;
  readonly decoder: 'columnar' | 'general';
  /** What broke off the file, when only the events before are in the snapshot. */
  readonly partial: string | undefined;
}

/**
 * @throws LoadError of any code; `partialEvents` says how many whole events come before the fault
 * @throws CancelledError
 */
export async function readPickle(
  open: OpenBytes,
  meter: Meter,
  allowPartial: boolean,
): Promise<ReadPickle> {
  const decoder = new SnapshotDecoder();
  try {
    await pump(open, decoder, meter);
    const snapshot = decoder.finish();
    return { snapshot, protocol: decoder.protocol, decoder: 'columnar', partial: undefined };
  } catch (error) {
    if (error instanceof DeclinedError || isNotASnapshot(error)) {
      const { snapshot, warning } = await readGeneral(open, error);
      const warnings = [...snapshot.warnings, warning];
      const { protocol } = decoder;
      return {
        snapshot: { ...snapshot, warnings },
        protocol,
        decoder: 'general',
        partial: undefined,
      };
    }
    return partialOf(decoder, error, allowPartial);
  }
}

async function pump(open: OpenBytes, decoder: SnapshotDecoder, meter: Meter): Promise<void> {
  let trailingBytes = 0;
  for await (const chunk of open()) {
    meter.checkCancelled();
    if (decoder.stopped) trailingBytes += chunk.length;
    if (trailingBytes > MAX_TRAILING_BYTES) return;
    decoder.push(chunk);
    meter.report(decoder.eventCount);
  }
}

function isNotASnapshot(error: unknown): error is LoadError {
  return error instanceof LoadError && error.failure.code === 'not-a-snapshot';
}

/** The events before the fault where the user wants them; else the fault, saying how many there are. */
function partialOf(decoder: SnapshotDecoder, error: unknown, allowPartial: boolean): ReadPickle {
  if (error instanceof CancelledError) throw error;
  const failure = asLoadError(error).failure;
  if (decoder.eventCount === 0) throw new LoadError(failure);
  if (!allowPartial) throw new LoadError({ ...failure, partialEvents: decoder.eventCount });
  const partial = failure.message;
  const snapshot = decoder.finishPartial(partial);
  return { snapshot, protocol: decoder.protocol, decoder: 'columnar', partial };
}

/** Engines throw RangeError when a typed array finds no memory. All else unknown is a bug: thrown on. */
function asLoadError(error: unknown): LoadError {
  if (error instanceof LoadError) return error;
  if (!(error instanceof RangeError)) throw error;
  return new LoadError({
    code: 'out-of-memory',
    message: `There is not enough memory for this snapshot (${error.message}).`,
    advice: 'Close other tabs, or record fewer events (max_entries of _record_memory_history).',
  });
}

interface General {
  readonly snapshot: Snapshot;
  readonly warning: SnapshotWarning;
}

/** Reads the file again by the general decoder; `cause` is why the columnar one gave up. */
async function readGeneral(open: OpenBytes, cause: DeclinedError | LoadError): Promise<General> {
  const bytes = await collectBytes(open(), MAX_GENERAL_BYTES);
  if (bytes === undefined) throw cause instanceof LoadError ? cause : tooBig(cause);
  const unpickled = unpickle(bytes);
  const snapshot = snapshotOf(unpickled, cause);
  return { snapshot, warning: generalWarning(cause, unpickled.callables) };
}

function snapshotOf(unpickled: Unpickled, cause: DeclinedError | LoadError): Snapshot {
  const [callable] = unpickled.callables;
  try {
    const snapshot = findSnapshot(unpickled.value);
    if (snapshot !== undefined) return snapshot;
  } catch (error) {
    if (error instanceof LoadError) throw error;
    throw generalFailed(cause, error);
  }
  if (callable !== undefined) throw holdsCode(callable);
  if (cause instanceof LoadError) throw cause;
  if (unpickled.failure !== undefined) throw generalFailed(cause, unpickled.failure);
  throw new LoadError({
    code: 'not-a-snapshot',
    message: 'This is a pickle, but no memory snapshot is in it.',
    advice: SNAPSHOT_ADVICE,
  });
}

function generalWarning(cause: Error, callables: readonly string[]): SnapshotWarning {
  const reason =
    cause instanceof DeclinedError ? cause.reason : 'the snapshot lies in another value';
  const named = callables.length === 0 ? '' : ` It names ${callables.join(', ')}; nothing was run.`;
  const message = `Read by the slower general decoder (${reason}).${named}`;
  return { code: 'general-decoder', message };
}

function holdsCode(callable: string): LoadError {
  return new LoadError({
    code: 'holds-code',
    message: `This pickle would call ${callable}; nothing was run. No memory snapshot is in it.`,
    advice:
      'A snapshot holds no code. Be careful with this file: pickle.load in Python would run what it names.',
  });
}

function tooBig(cause: DeclinedError): LoadError {
  if (cause.holdsCode)
    return new LoadError({ ...holdsCode(cause.callable ?? 'code').failure, byte: cause.byte });
  return new LoadError({
    code: 'unsupported-pickle',
    message: `This pickle is not written as PyTorch writes snapshots (${cause.reason}), and above ${MAX_GENERAL_BYTES / 2 ** 20} MiB only such can be read.`,
    advice: SNAPSHOT_ADVICE,
    byte: cause.byte,
  });
}

function generalFailed(cause: DeclinedError | LoadError, error: unknown): LoadError {
  return new LoadError({
    code: 'unsupported-pickle',
    message: `This pickle is not written as PyTorch writes snapshots (${cause.message}), and the general decoder fails at it too: ${errorText(error)}`,
    advice: SNAPSHOT_ADVICE,
    byte: cause instanceof DeclinedError ? cause.byte : undefined,
  });
}
