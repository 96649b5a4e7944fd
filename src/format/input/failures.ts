/** Error messages for files that cannot be read, and the conversion of platform stream errors to them. */
import { LoadError } from '../../base/load-error.ts';
import type { ForeignFormat } from './sniff.ts';

/** A file of another kind. `outer` is the container it was found in ('gzip', 'zip', …), if any. */
export function foreignError(format: ForeignFormat, outer: string | undefined): ForeignError {
  const subject = outer === undefined ? 'This is' : `The content of this ${outer} file is`;
  const message = `${subject} ${format.what}, not a memory snapshot.`;
  return new ForeignError({ code: format.code, message, advice: format.advice });
}

/** A readable file that is not a snapshot. In a zip, the next file may be one. */
export class ForeignError extends LoadError {}

const NO_SNAPSHOT = new Set(['not-a-snapshot', 'html-without-snapshot', 'zip-without-snapshot']);

export function isNoSnapshot(error: unknown): boolean {
  if (error instanceof ForeignError) return true;
  return error instanceof LoadError && NO_SNAPSHOT.has(error.failure.code);
}

export const isNotASnapshot = (error: unknown): boolean =>
  error instanceof LoadError && error.failure.code === 'not-a-snapshot';

const RECOPY_ADVICE = 'Copy or download the file again.';

/** A container that ends early. `byte`: number of intact decompressed bytes. */
export function cutShortError(container: string, byte: number | undefined): LoadError {
  return new LoadError({
    code: 'truncated',
    message: `The ${container} data end too early: the file is truncated.`,
    advice: RECOPY_ADVICE,
    byte,
  });
}

/** A container whose own checks fail. `byte`: decompressed bytes before the fault was noticed. */
export function damagedError(
  container: string,
  detail: string,
  byte: number | undefined,
): LoadError {
  return new LoadError({
    code: `${container.toLowerCase()}-damaged`,
    message: `The ${container} data are damaged (${detail}).`,
    advice: RECOPY_ADVICE,
    byte,
  });
}

/** Valid, but of a kind that this reader does not support. */
export function unsupportedError(container: string, detail: string): LoadError {
  return new LoadError({
    code: `${container}-unsupported`,
    message: `This ${container} file ${detail}, which vramscope cannot read.`,
    advice: 'Unpack it with another program and open the snapshot inside.',
  });
}

/**
 * Converts an error of a byte source to a failure to show. A dropped folder is NotReadableError or NotFoundError in a
 * browser (like a file that changed or was deleted) and EISDIR in Node. Returns undefined for errors that are not about
 * reading (an abort, a bug); rethrow those.
 */
export function sourceFailure(error: unknown, name: string): LoadError | undefined {
  if (!(error instanceof Error)) return undefined;
  // With Node's code: 'notreadableerror eisdir'.
  const kind = `${error.name} ${'code' in error ? error.code : ''}`.toLowerCase();
  if (kind.includes('eisdir')) {
    return new LoadError({
      code: 'folder',
      message: `${name} is a folder, not a snapshot.`,
      advice: 'Open one of the files in it.',
    });
  }
  if (/notreadable|notfound|enoent|eacces|eperm|eio/.test(kind)) {
    return new LoadError({
      code: 'unreadable',
      message: `${name} cannot be read. It may be a folder, or the file was moved, changed or locked.`,
      advice: 'Choose a single file, and choose it again if it changed.',
    });
  }
  return undefined;
}
