/** How errors cross threads. */
import { assertUnreachable } from '../base/assert.ts';
import { abortError, isAbortError } from '../base/errors.ts';
import { LoadError, type LoadFailure } from '../base/load-error.ts';

/**
 * An error as plain data, because structured clone keeps neither the class nor our fields. Three kinds cross: an
 * unreadable file (LoadError), a cancelled call (AbortError), and any other error, which is a bug of ours and arrives
 * as a LoadError with code 'internal'.
 */
export type WireError =
  | { readonly kind: 'load'; readonly failure: LoadFailure }
  | { readonly kind: 'aborted'; readonly message: string };

export function toWireError(error: unknown): WireError {
  if (isAbortError(error)) return { kind: 'aborted', message: textOf(error) };
  return { kind: 'load', failure: failureOf(error) };
}

export function fromWireError(error: WireError): Error {
  switch (error.kind) {
    case 'load':
      return new LoadError(error.failure);
    case 'aborted':
      return abortError(error.message);
    default:
      return assertUnreachable(error);
  }
}

/** What to tell the user about any error: a LoadError's own failure, or code 'internal' for a bug. */
function failureOf(error: unknown): LoadFailure {
  if (error instanceof LoadError) return error.failure;
  return isOutOfMemory(error) ? outOfMemory().failure : internalError(error).failure;
}

function outOfMemory(): LoadError {
  return new LoadError({
    code: 'out-of-memory',
    message: 'This snapshot needs more memory than one tab or thread is allowed.',
    advice: 'Close other tabs, or read the file with the command line: vramscope stats FILE.',
  });
}

function internalError(error: unknown): LoadError {
  return new LoadError({
    code: 'internal',
    message: `Internal error in vramscope: ${textOf(error)}`,
    advice:
      'Please report this text as a bug, with the snapshot if you can share it. ' +
      `Place: ${sourceLocation(error)}`,
  });
}

/** Matches the messages of V8, SpiderMonkey and JavaScriptCore when a typed array or a Map cannot grow. */
function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof RangeError &&
    /allocation failed|invalid array length|out of memory|maximum size exceeded/i.test(
      error.message,
    )
  );
}

function textOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.message : String(error);
}

/** First line of the stack with a location: "at replayDevice (replay.ts:120:7)". */
function sourceLocation(error: unknown): string {
  const lines = error instanceof Error ? (error.stack ?? '').split('\n') : [];
  return lines.find((line) => /:\d+:\d+/.test(line))?.trim() ?? 'unknown';
}
