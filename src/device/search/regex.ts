/** Regular expressions that cannot hang: RE2 syntax, linear time in the text for any pattern. */
import { assert } from '../../base/errors.ts';
import type { SearchProblem } from './types.ts';

/** Loaded when the first expression is typed: it is as large as the rest of the session's query code. */
type RegexEngine = typeof import('re2js');

let engine: RegexEngine | undefined;

/** Await this before matching a search with a regular expression. */
export async function loadRegexEngine(): Promise<void> {
  engine ??= await import('re2js');
}

function regexEngine(): RegexEngine {
  assert(engine !== undefined, 'loadRegexEngine was awaited');
  return engine;
}

/** Whether matching may need the engine: every regular expression begins with a slash. */
export function mayHoldRegex(search: string): boolean {
  return search.includes('/');
}

/** Longer ones are pasted by mistake. */
const MAX_LENGTH = 1000;
/**
 * Time is linear, but in text × program: x{1000} has a program of 1,002 steps, and ten of these in a row take a second.
 */
const MAX_PROGRAM = 2000;

/** Ignores case, as words do; (?-i) makes a pattern case-sensitive. `problem.at` counts from the pattern's start. */
export function compileRegex(
  source: string,
): { readonly test: (text: string) => boolean } | { readonly problem: SearchProblem } {
  if (source.length > MAX_LENGTH) {
    return refused(source, `is longer than ${MAX_LENGTH} characters`);
  }
  const { RE2JS, RE2JSException } = regexEngine();
  try {
    const regex = RE2JS.compile(source, RE2JS.CASE_INSENSITIVE);
    if (regex.programSize() > MAX_PROGRAM) {
      return refused(source, 'repeats too much for a fast search: lower its {counts}');
    }
    return { test: (text) => regex.test(text) };
  } catch (error) {
    if (error instanceof RE2JSException) return { problem: explain(source, error) };
    throw error;
  }
}

const refused = (source: string, what: string): { readonly problem: SearchProblem } => ({
  problem: problemAt(0, source.length, `This regular expression ${what}.`),
});

const problemAt = (at: number, length: number, message: string): SearchProblem => {
  return { at, length, message, isUnfinished: false };
};

/** RE2's message, a suggestion, and the position: the part that RE2 names, or the unmatched parenthesis. */
function explain(source: string, error: Error): SearchProblem {
  if (!(error instanceof regexEngine().RE2JSSyntaxException)) {
    return problemAt(0, source.length, `Invalid regular expression: ${error.message}.`);
  }
  const description = error.getDescription();
  const part = error.getPattern() ?? '';
  const at = errorOffset(source, description, part);
  const length = at + part.length <= source.length ? Math.max(1, part.length) : 1;
  const advice = ADVICE.find(([word]) => description.includes(word))?.[1];
  const hint = advice === undefined ? '' : `; ${advice}`;
  return problemAt(at, length, `Invalid regular expression: ${description}${hint}.`);
}

const ADVICE: readonly (readonly [string, string])[] = [
  ['closing )', 'write \\( for a literal bracket'],
  ['unexpected )', 'write \\) for a literal bracket'],
  ['closing ]', 'write \\[ for a literal bracket'],
  ['trailing backslash', 'write \\\\ for a literal backslash'],
  ['missing argument', 'write \\ before it for the literal character'],
  ['Perl syntax', 'RE2 syntax has no look-around'],
  ['escape sequence', 'RE2 syntax has no back references'],
];

function errorOffset(source: string, description: string, part: string): number {
  if (description.includes('closing )') || description.includes('unexpected )')) {
    return unmatchedBracket(source);
  }
  if (description.includes('trailing backslash')) return source.length - 1;
  return Math.max(0, source.lastIndexOf(part));
}

/** Position of the first ) without (, else of the last ( without ). */
function unmatchedBracket(source: string): number {
  const open: number[] = [];
  let isClass = false;
  for (let at = 0; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at++;
    else if (isClass) isClass = char !== ']';
    else if (char === '[') isClass = true;
    else if (char === '(') open.push(at);
    else if (char === ')' && open.pop() === undefined) return at;
  }
  return open.at(-1) ?? 0;
}
