/** Writes terms of the search language, for filters that are clicked: what `parseSearch` reads back. */
import type { FrameView } from '../device/types.ts';
import { parseSearch } from './parse-search.ts';
import type { PoolWord, StateWord } from './types.ts';

/** A text as a term that finds it, whatever is in it. */
export function textTerm(text: string): string {
  return quoteText(text);
}

/** Stacks with that very frame: frame:"forward@/home/me/model.py:12". */
export function frameTerm(frame: Pick<FrameView, 'name' | 'filename' | 'line'>): string {
  return `frame:${quoteText(frameText(frame))}`;
}

/** How the language spells a frame. */
export function frameText({
  name,
  filename,
  line,
}: Pick<FrameView, 'name' | 'filename' | 'line'>): string {
  return `${name}@${filename}:${line}`;
}

/** Allocations made inside annotations of that name. */
export function phaseTerm(name: string): string {
  return `phase:${quoteText(name)}`;
}

/** '' finds allocations without a category. */
export function categoryTerm(name: string): string {
  return `category:${quoteText(name)}`;
}

/** '' finds allocations outside compiled regions. */
export function compileTerm(context: string): string {
  return `compile:${quoteText(context)}`;
}

/** Allocations with the stack of that one: site:b7f064c000000_0. */
export function siteTerm(label: string): string {
  return `site:${label}`;
}

/** `stream` as `streamText` writes it: '0', '0x55d0c0de'. */
export function streamTerm(stream: string): string {
  return `stream:${stream}`;
}

/** A private pool as `privatePoolText` writes it: '(1, 0)'. */
export function privatePoolTerm(pool: string): string {
  return `pool:${quoteText(pool)}`;
}

export function poolTerm(pool: PoolWord): string {
  return `pool:${pool}`;
}

export function stateTerm(state: StateWord): string {
  return `state:${state}`;
}

/** Blocks of at least `from` and of fewer than `to` bytes; Infinity: no upper end. */
export function sizeTerms(fromBytes: number, toBytes: number): string {
  const terms: string[] = [];
  if (fromBytes > 0) terms.push(`size>=${fromBytes}`);
  if (Number.isFinite(toBytes)) terms.push(`size<${toBytes}`);
  return terms.join(' ');
}

/** True when all of `term` (one term or several) stands in the search already. */
export function hasTerm(search: string, term: string): boolean {
  const present = new Set(parseSearch(search).terms.map(({ text }) => text));
  const wanted = parseSearch(term).terms;
  return wanted.length > 0 && wanted.every(({ text }) => present.has(text));
}

/** The search with the term behind it, unless it is there already. */
export function addTerm(search: string, term: string): string {
  if (hasTerm(search, term)) return search;
  return `${search.trim()} ${term}`.trim();
}

/** The search without the term. One with a problem stays as it is: nobody knows its terms. */
export function removeTerm(search: string, term: string): string {
  const gone = new Set(parseSearch(term).terms.map(({ text }) => text));
  const { terms, problem } = parseSearch(search);
  if (problem !== undefined) return search;
  return terms
    .map(({ text }) => text)
    .filter((text) => !gone.has(text))
    .join(' ');
}

/** As a legend filters: a click adds the term, a second one takes it away. */
export function toggleTerm(search: string, term: string): string {
  return hasTerm(search, term) ? removeTerm(search, term) : addTerm(search, term);
}

/** Inside quotes only \" and \\ are escapes; any other backslash is itself, as in C:\train.py. */
function quoteText(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
