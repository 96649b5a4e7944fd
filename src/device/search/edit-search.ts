/** Changes to the text of a search, for filters that are clicked. */
import { parseSearch } from './parse-search.ts';
import { quoteText } from './qualifier.ts';

/** A text as a term that finds it, whatever is in it. */
export function textTerm(text: string): string {
  return quoteText(text);
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
