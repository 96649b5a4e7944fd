/** Parses a search into terms. Regular expressions are only checked when compiled (regex.ts). */
import type { Comparison, Qualifier } from './qualifier.ts';
import { findQualifier, QUALIFIERS, type QualifierCondition, qualifierHelp } from './qualifiers.ts';
import type { Condition, ParsedSearch, SearchProblem, Term, WordCondition } from './types.ts';

/** More terms than this are text pasted by mistake. */
const MAX_TERMS = 32;

/** Never throws. */
export function parseSearch(text: string): ParsedSearch {
  const terms: Term[] = [];
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    if (terms.length === MAX_TERMS) {
      return failed(at, text.length - at, `A search has at most ${MAX_TERMS} terms.`);
    }
    const read = readTerm(text, at);
    if ('message' in read) return { terms: [], problem: read };
    const { condition, end, isNegated } = read;
    terms.push({ text: text.slice(at, end), at, isNegated, condition });
    at = end;
  }
  return { terms, problem: undefined };
}

interface Read {
  readonly condition: Condition;
  readonly isNegated: boolean;
  /** Position after the term. */
  readonly end: number;
}

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

type ReadCondition = Omit<Read, 'isNegated'> | SearchProblem;

const NAMES = QUALIFIERS.map(({ name }) => name).join('|');
const QUALIFIER_START = new RegExp(`(${NAMES})(>=|<=|[<>=:])`, 'iy');

function readCondition(text: string, from: number): ReadCondition {
  if (text[from] === '"') {
    const quoted = readQuoted(text, from);
    if ('message' in quoted) return quoted;
    if (quoted.value === '') return problem(from, 2, 'These quotes are empty.');
    return { condition: { kind: 'text', text: quoted.value }, end: quoted.end };
  }
  if (text[from] === '/') {
    const end = endOfRegex(text, from);
    if (end !== undefined) {
      return { condition: { kind: 'regex', source: text.slice(from + 1, end - 1) }, end };
    }
  }
  QUALIFIER_START.lastIndex = from;
  const start = QUALIFIER_START.exec(text);
  const qualifier = start === null ? undefined : findQualifier(start[1].toLowerCase());
  if (start !== null && qualifier !== undefined) {
    return readQualified(text, from, qualifier, start[2]);
  }
  const end = endOfWord(text, from);
  return { condition: wordCondition(text.slice(from, end)), end };
}

/** The part after `size>` or `stream:`. */
function readQualified(
  text: string,
  from: number,
  qualifier: Qualifier<QualifierCondition>,
  sign: string,
): ReadCondition {
  const valueAt = from + qualifier.name.length + sign.length;
  const read =
    text[valueAt] === '"'
      ? readQuoted(text, valueAt)
      : { value: text.slice(valueAt, endOfWord(text, valueAt)), end: endOfWord(text, valueAt) };
  if ('message' in read) return read;
  const isEmpty = read.end === valueAt;
  const comparison = comparisonOf(qualifier, sign);
  const condition =
    isEmpty || comparison === undefined ? undefined : qualifier.parse(read.value, comparison);
  if (condition !== undefined) return { condition, end: read.end };
  const written = text.slice(from, read.end);
  const said = `"${clip(written)}" ${isEmpty ? 'is incomplete' : 'is not valid'}`;
  const message = `${said}: ${qualifier.name} takes ${qualifierHelp(qualifier)}.`;
  return problem(from, read.end - from, message, read.end === text.length);
}

const COMPARISONS: readonly Comparison[] = ['<', '<=', '=', '>=', '>'];

/** state=live means the same as state:live. */
function comparisonOf(
  { isComparable = false }: Qualifier<QualifierCondition>,
  sign: string,
): Comparison | undefined {
  if (sign === ':') return '=';
  const comparison = COMPARISONS.find((word) => word === sign);
  return isComparable || comparison === '=' ? comparison : undefined;
}

/** The text between quotes, where \" is a quote and \\ a backslash. A space or the end must follow. */
function readQuoted(
  text: string,
  from: number,
): { readonly value: string; readonly end: number } | SearchProblem {
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
    return problem(
      end,
      1,
      'Put a space after the closing quote. To write a quote inside quotes, use \\".',
    );
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

const BLOCK = /^b([0-9a-f]{6,16})(_\d{1,9})?$/i;
const SEGMENT = /^s([0-9a-f]{6,16})(?:_(\d{1,9}))?$/i;
const PREFIXED_HEX = /^0x([0-9a-f]{1,16})$/i;
/** At least eight hex digits, one of them decimal: an address rather than a word such as "deadbeef" or "cafe". */
const BARE_HEX = /^(?=.*\d)[0-9a-f]{8,16}$/i;

/** A word, or an address in one of its spellings. */
function wordCondition(word: string): WordCondition {
  const block = BLOCK.exec(word);
  if (block?.[2] !== undefined) return { kind: 'allocation', label: word.toLowerCase() };
  const segment = SEGMENT.exec(word);
  if (segment !== null && (segment[2] !== undefined || BARE_HEX.test(segment[1]))) {
    const nth = segment[2] === undefined ? undefined : Number(segment[2]);
    return { kind: 'segment', address: hex(segment[1]), nth };
  }
  const prefixed = PREFIXED_HEX.exec(word);
  if (prefixed !== null) {
    return { kind: 'address', addresses: [hex(prefixed[1])], orText: undefined };
  }
  const addresses: bigint[] = [];
  if (BARE_HEX.test(word)) addresses.push(hex(word));
  // b is also a hex digit: b7f064c000000 may be a block's name without its number.
  if (block !== null && BARE_HEX.test(block[1])) addresses.push(hex(block[1]));
  return addresses.length === 0
    ? { kind: 'text', text: word }
    : { kind: 'address', addresses, orText: word };
}

const hex = (digits: string): bigint => BigInt(`0x${digits}`);

const BLANKS = /\s*/y;
const WORD = /\S*/y;

function skipBlanks(text: string, at: number): number {
  return endOf(BLANKS, text, at);
}

function endOfWord(text: string, at: number): number {
  return endOf(WORD, text, at);
}

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

const failed = (at: number, length: number, message: string): ParsedSearch => ({
  terms: [],
  problem: problem(at, length, message),
});

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

/** Edits to a search text, for filters that are clicked. */

/** Whether the search already contains all of `term` (one term or several). */
export function hasTerm(search: string, term: string): boolean {
  const present = new Set(parseSearch(search).terms.map(({ text }) => text));
  const wanted = parseSearch(term).terms;
  return wanted.length > 0 && wanted.every(({ text }) => present.has(text));
}

/** Appends the term unless the search already contains it. */
export function addTerm(search: string, term: string): string {
  if (hasTerm(search, term)) return search;
  return `${search.trim()} ${term}`.trim();
}

/** The search without the term. A search with a problem stays as is, because its terms are unknown. */
export function removeTerm(search: string, term: string): string {
  const gone = new Set(parseSearch(term).terms.map(({ text }) => text));
  const { terms, problem } = parseSearch(search);
  if (problem !== undefined) return search;
  return terms
    .map(({ text }) => text)
    .filter((text) => !gone.has(text))
    .join(' ');
}

/** As in a legend: a click adds the term, a second click removes it. */
export function toggleTerm(search: string, term: string): string {
  return hasTerm(search, term) ? removeTerm(search, term) : addTerm(search, term);
}
