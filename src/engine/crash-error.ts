import { LoadError } from '../core/base/load-error.ts';

/** What to tell the user when a worker dies. `message` is a sentence without its full stop. */
export function crashError(event: Event, message: string, advice: string): LoadError {
  // An ErrorEvent has a message; what the browser sends when it ends a worker need not.
  const reason = 'message' in event ? event.message : undefined;
  const text = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  return new LoadError({ code: 'worker-crashed', message: `${message}${text}.`, advice });
}
