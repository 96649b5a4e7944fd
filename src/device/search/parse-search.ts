/** Parses a search into terms. Regular expressions are only checked when compiled (regex.ts). */
import type { Comparison } from './qualifier.ts';
import { QUALIFIER_NAMES, QUALIFIERS, qualifierHelp, qualifierNamed } from './qualifiers.ts';
import type { ParsedSearch, SearchProblem, Term } from './types.ts';

/** More terms than this are text pasted by mistake. */
const MAX_TERMS = 32;
const TOO_LONG = `A search has at most ${MAX_TERMS} terms.`;

/** Never throws. */
export function parseSearch(text: string): ParsedSearch {
  const terms: Term[] = [];
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const isTooLong = terms.length === MAX_TERMS;
    const read = isTooLong ? problem(at, text.length - at, TOO_LONG) : readTerm(text, at);
    if ('message' in read) return { terms: [], problem: read };
    const { end, ...term } = read;
    terms.push({ text: text.slice(at, end), at, ...term });
    at = end;
  }
  return { terms, problem: undefined };
}

/** `end`: the position after the term. */
type Read = Omit<Term, 'text' | 'at'> & { readonly end: number };

function readTerm(text: string, at: number): Read | SearchProblem {
  const isNegated = text[at] === '-';
  const from = isNegated ? at + 1 : at;
  if (skipBlanks(text, from) !== from || from === text.length) {
    const message = 'Put - before a term to exclude it: -optimizer';
    return problem(at, 1, message, from === text.length);
  }
  const read = readCondition(text, from);
  return 'message' in read ? read : { ...read, isNegated };
}

type Unsigned = Omit<Read, 'isNegated'>;

const QUALIFIER_START = new RegExp(`(${QUALIFIER_NAMES.join('|')})(>=|<=|[<>=:])`, 'iy');

function readCondition(text: string, from: number): Unsigned | SearchProblem {
  const comparison = '=';
  if (text[from] === '"') {
    const quoted = readQuoted(text, from);
    if ('message' in quoted) return quoted;
    if (quoted.value === '') return problem(from, 2, 'These quotes are empty.');
    return { kind: 'quoted', comparison, ...quoted };
  }
  const regexEnd = text[from] === '/' ? endOfRegex(text, from) : undefined;
  if (regexEnd !== undefined) {
    const value = text.slice(from + 1, regexEnd - 1);
    return { kind: 'regex', comparison, value, end: regexEnd };
  }
  QUALIFIER_START.lastIndex = from;
  const [, name, sign = ''] = QUALIFIER_START.exec(text) ?? [];
  const kind = QUALIFIER_NAMES.find((known) => known === name?.toLowerCase());
  if (kind !== undefined) return readQualified(text, from, kind, sign);
  const end = endOfWord(text, from);
  return { kind: 'word', comparison, value: text.slice(from, end), end };
}

/** The part after `size>` or `stream:`. */
function readQualified(
  text: string,
  from: number,
  kind: keyof typeof QUALIFIERS,
  sign: string,
): Unsigned | SearchProblem {
  const valueAt = from + kind.length + sign.length;
  const wordEnd = endOfWord(text, valueAt);
  const word = { value: text.slice(valueAt, wordEnd), end: wordEnd };
  const read = text[valueAt] === '"' ? readQuoted(text, valueAt) : word;
  if ('message' in read) return read;
  const { value, end } = read;
  const qualifier = QUALIFIERS[kind];
  // state=live means the same as state:live.
  const comparison = (sign === ':' ? '=' : sign) as Comparison;
  const isKnown = comparison === '=' || qualifier.isComparable === true;
  const isEmpty = end === valueAt;
  if (!isEmpty && isKnown && qualifier.read(value, comparison) !== undefined) {
    return { kind, comparison, value, end };
  }
  const said = `"${clip(text.slice(from, end))}" ${isEmpty ? 'is incomplete' : 'is not valid'}`;
  const message = `${said}: ${kind} takes ${qualifierHelp(qualifier)}.`;
  return problem(from, end - from, message, end === text.length);
}

/** The text between quotes, where \" is a quote and \\ a backslash. A space or the end must follow. */
function readQuoted(text: string, from: number): Pick<Read, 'value' | 'end'> | SearchProblem {
  let value = '';
  let at = from + 1;
  for (; at < text.length && text[at] !== '"'; at++) {
    const isEscape = text[at] === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\');
    if (isEscape) at++;
    value += text[at];
  }
  if (at >= text.length) {
    const message = 'This quote is not closed: add " after the text.';
    return problem(from, text.length - from, message, true);
  }
  const end = at + 1;
  if (end < text.length && skipBlanks(text, end) === end) {
    const message = 'Put a space after the closing quote. To write a quote inside quotes, use \\".';
    return problem(end, 1, message);
  }
  return { value, end };
}

/**
 * Position after a regular expression's closing slash; undefined if the text is a path such as /home/me/train.py. If
 * the first word ends in a slash, a slash before a space ends the expression. Otherwise the first word may not contain
 * another slash, and the expression may contain spaces: /mul add/.
 */
function endOfRegex(text: string, from: number): number | undefined {
  const wordEnd = endOfWord(text, from);
  const isClosedWord = text[wordEnd - 1] === '/';
  // Starts at the second character: // is plain text.
  for (let at = from + 2; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '/') {
      const end = at + 1;
      if (end === text.length || skipBlanks(text, end) !== end) return end;
      if (end <= wordEnd && !isClosedWord) return undefined;
    }
  }
  return undefined;
}

const BLANKS = /\s*/y;
const WORD = /\S*/y;

const skipBlanks = (text: string, at: number): number => endOf(BLANKS, text, at);
const endOfWord = (text: string, at: number): number => endOf(WORD, text, at);

/** Where a sticky match ends; the pattern must match at least ''. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return pattern.lastIndex;
}

const problem = (
  at: number,
  length: number,
  message: string,
  isUnfinished = false,
): SearchProblem => ({ at, length, message, isUnfinished });

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Whether the matches change with the cursor. */
export function dependsOnCursor(text: string): boolean {
  return parseSearch(text).terms.some(({ kind }) => qualifierNamed(kind)?.dependsOnCursor === true);
}

/** Edits to a search text, for filters that are clicked. */

const textsOf = (search: string): string[] => parseSearch(search).terms.map(({ text }) => text);

/** Whether the search already contains all of `term` (one term or several). */
export function hasTerm(search: string, term: string): boolean {
  const present = textsOf(search);
  // Every entry of a legend asks this whenever the view moves, mostly without a search.
  if (present.length === 0) return false;
  const wanted = textsOf(term);
  return wanted.length > 0 && wanted.every((text) => present.includes(text));
}

/** Appends the term unless the search already contains it. */
export function addTerm(search: string, term: string): string {
  return hasTerm(search, term) ? search : `${search.trim()} ${term}`.trim();
}

/** The search without the term. A search with a problem stays as is, because its terms are unknown. */
export function removeTerm(search: string, term: string): string {
  if (parseSearch(search).problem !== undefined) return search;
  const gone = textsOf(term);
  return textsOf(search)
    .filter((text) => !gone.includes(text))
    .join(' ');
}

/** As in a legend: a click adds the term, a second click removes it. */
export function toggleTerm(search: string, term: string): string {
  return hasTerm(search, term) ? removeTerm(search, term) : addTerm(search, term);
}
