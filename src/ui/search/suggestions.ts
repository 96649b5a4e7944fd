/** What may be typed next: the terms of the search language, and what this snapshot has for them. */
import {
  findQualifier,
  type KnownValues,
  QUALIFIERS,
  qualifierHelp,
} from '../../core/search/qualifiers.ts';

export interface Suggestion {
  /** The term as far as it goes: 'size>', 'state:live'. */
  readonly text: string;
  readonly hint: string;
  /** False for a qualifier: its value comes next. */
  readonly isWhole: boolean;
}

export interface Suggested {
  readonly options: readonly Suggestion[];
  /** How many more there are than are listed. */
  readonly more: number;
  /** Where the word begins that an option replaces. */
  readonly from: number;
}

const MAX_LISTED = 10;

/** The sign and the word before the caret, which may have an open quote. */
const LAST_WORD = /(?:^|\s)-?((?:\w+[:=<>]*)?"[^"]*|[^\s"]*)$/;

/**
 * For the word that ends at the caret: qualifiers that begin so, or values of its qualifier that have
 * that in them.
 */
export function suggest(text: string, caret: number, known: KnownValues = {}): Suggested {
  const word = LAST_WORD.exec(text.slice(0, caret))?.[1] ?? '';
  const options = word.includes(':') ? valuesFor(word, known) : qualifiersFor(plain(word));
  return {
    options: options.slice(0, MAX_LISTED),
    more: Math.max(0, options.length - MAX_LISTED),
    from: caret - word.length,
  };
}

const plain = (text: string): string => text.toLowerCase().replaceAll('"', '');

/** The text with an option in place of the word, and where the caret goes. */
export function complete(
  text: string,
  caret: number,
  { from }: Suggested,
  { text: term, isWhole }: Suggestion,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(caret);
  const written = isWhole && !/^\s/.test(rest) ? `${term} ` : term;
  return { text: text.slice(0, from) + written + rest, caret: from + written.length };
}

function qualifiersFor(start: string): readonly Suggestion[] {
  return QUALIFIERS.map((qualifier) => ({
    text: `${qualifier.name}${qualifier.isComparable === true ? '>' : ':'}`,
    hint: qualifierHelp(qualifier),
    isWhole: false,
  })).filter(({ text }) => text.startsWith(start));
}

function valuesFor(word: string, known: KnownValues): readonly Suggestion[] {
  const colon = word.indexOf(':');
  const qualifier = findQualifier(word.slice(0, colon).toLowerCase());
  const part = plain(word.slice(colon + 1));
  const values = qualifier?.suggest?.(known[qualifier.name] ?? []) ?? [];
  return values
    .filter(({ term }) => term !== word && plain(term.slice(colon + 1)).includes(part))
    .map(({ term, hint }) => ({ text: term, hint, isWhole: true }));
}
