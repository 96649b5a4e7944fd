/** How errors cross threads. */
import { abortError, errorText, isAbortError } from '../base/errors.ts';
import { LoadError, type LoadFailure } from '../base/load-error.ts';

/**
 * An error as plain data, because structured clone keeps neither the class nor our fields: a cancelled call, or what to
 * tell the user. A bug of ours arrives as a LoadError with code 'internal'.
 */
export type WireError = { readonly aborted: string } | { readonly failure: LoadFailure };

export const toWireError = (error: unknown): WireError =>
  isAbortError(error) ? { aborted: errorText(error) } : { failure: loadError(error).failure };

export const fromWireError = (error: WireError): Error =>
  'aborted' in error ? abortError(error.aborted) : new LoadError(error.failure);

function loadError(error: unknown): LoadError {
  if (error instanceof LoadError) return error;
  if (isOutOfMemory(error)) {
    return new LoadError({
      code: 'out-of-memory',
      message: 'This snapshot needs more memory than one tab or thread is allowed.',
      advice: 'Close other tabs, or read the file with the command line: vramscope stats FILE.',
    });
  }
  return new LoadError({
    code: 'internal',
    message: `Internal error in vramscope: ${errorText(error)}`,
    advice:
      'Please report this text as a bug, with the snapshot if you can share it. ' +
      `Place: ${sourceLocation(error)}`,
  });
}

/** Matches the messages of V8, SpiderMonkey and JavaScriptCore when a typed array or a Map cannot grow. */
const NO_MEMORY = /allocation failed|invalid array length|out of memory|maximum size exceeded/i;
const isOutOfMemory = (error: unknown): boolean =>
  error instanceof RangeError && NO_MEMORY.test(error.message);

/** First line of the stack with a location: "at replayDevice (replay.ts:120:7)". */
function sourceLocation(error: unknown): string {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.find((line) => /:\d+:\d+/.test(line))?.trim() ?? 'unknown';
}
