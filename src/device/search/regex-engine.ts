/**
 * The library behind regular expressions, fetched when the first one is typed: it is as large as all
 * else that a session answers with, and most searches are words.
 */
import { assert } from '../../base/assert.ts';

type RegexEngine = typeof import('re2js');

let engine: RegexEngine | undefined;

/** To be awaited before a search with a regular expression is matched. */
export async function loadRegexEngine(): Promise<void> {
  engine ??= await import('re2js');
}

export function regexEngine(): RegexEngine {
  assert(engine !== undefined, 'loadRegexEngine was awaited');
  return engine;
}

/** Whether matching may ask for the engine: a slash begins every regular expression. */
export function mayHoldRegex(search: string): boolean {
  return search.includes('/');
}
