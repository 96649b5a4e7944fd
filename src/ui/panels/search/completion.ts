/** What the user may type next: terms of the search language, and this snapshot's values for them. */
import { type RefObject, useState } from 'react';
import {
  type KnownValues,
  QUALIFIER_NAMES,
  QUALIFIERS,
  qualifierHelp,
  suggestedTerms,
} from '../../../device/search/qualifiers.ts';
import type { SearchText } from './use-search.ts';

export interface Suggestion {
  /** The term so far: 'size>', 'state:live'. */
  readonly text: string;
  readonly hint: string;
  /** False for a qualifier, which still needs a value. */
  readonly isWhole: boolean;
}

export interface Suggested {
  readonly options: readonly Suggestion[];
  readonly more: number;
  readonly from: number;
}

/** A snapshot may have thousands of annotations. The few qualifiers are all listed. */
const MAX_VALUES = 10;

/** The sign and the word before the caret, which may have an open quote. */
const LAST_WORD = /(?:^|\s)-?((?:\w+[:=<>]*)?"[^"]*|[^\s"]*)$/;

/** For the word that ends at the caret: qualifiers that begin with it, or values of its qualifier that contain it. */
export function suggest(text: string, caret: number, known: KnownValues = {}): Suggested {
  const word = LAST_WORD.exec(text.slice(0, caret))?.[1] ?? '';
  const from = caret - word.length;
  if (!word.includes(':')) return { options: qualifiersFor(plain(word)), more: 0, from };
  const values = valuesFor(word, known);
  const options = values.slice(0, MAX_VALUES);
  return { options, more: values.length - options.length, from };
}

const plain = (text: string): string => text.toLowerCase().replaceAll('"', '');

/** Replaces the word with an option; returns the new text and caret. */
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
  return QUALIFIER_NAMES.map((name) => ({
    text: `${name}${QUALIFIERS[name].isComparable === true ? '>' : ':'}`,
    hint: qualifierHelp(QUALIFIERS[name]),
    isWhole: false,
  })).filter(({ text }) => text.startsWith(start));
}

function valuesFor(word: string, known: KnownValues): readonly Suggestion[] {
  const colon = word.indexOf(':');
  const qualifier = QUALIFIER_NAMES.find((name) => name === word.slice(0, colon).toLowerCase());
  if (qualifier === undefined) return [];
  const part = plain(word.slice(colon + 1));
  return suggestedTerms(qualifier, known)
    .filter(({ term }) => term !== word && plain(term.slice(colon + 1)).includes(part))
    .map(({ term, hint }) => ({ text: term, hint, isWhole: true }));
}

export type Completion = ReturnType<typeof useCompletion>;

/**
 * The list under the box, and the option that the arrow keys have reached.
 * @param known undefined until the worker has answered
 */
export function useCompletion(
  input: RefObject<HTMLInputElement | null>,
  text: SearchText,
  known: KnownValues | undefined,
) {
  /** Index of the option in the list; -1 for none, undefined while the list is closed. */
  const [reached, setReached] = useState<number>();
  const [caret, setCaret] = useState(0);
  const suggested = suggest(text.draft, caret, known);
  const { options } = suggested;
  const isShown = reached !== undefined && options.length > 0;
  const active = isShown ? reached : -1;
  const setOpen = (shall: boolean) => setReached(shall ? -1 : undefined);

  /** To the next or previous option, wrapping around; opens the list. */
  function step(direction: 1 | -1): void {
    const from = active < 0 && direction < 0 ? options.length : active;
    setReached(options.length === 0 ? -1 : (from + direction + options.length) % options.length);
  }

  function choose(option: Suggestion): void {
    const completed = complete(text.draft, caret, suggested, option);
    text.type(completed.text);
    setCaret(completed.caret);
    setOpen(!option.isWhole);
    // After React has written the text, unless the user has typed more.
    requestAnimationFrame(() => {
      if (input.current?.value !== completed.text) return;
      input.current.setSelectionRange(completed.caret, completed.caret);
    });
  }

  return {
    /** Undefined while the list is closed, or has nothing to offer. */
    suggested: isShown ? suggested : undefined,
    active,
    option: options[active],
    setCaret,
    setOpen,
    step,
    choose,
  };
}

interface SearchKeyTarget {
  readonly text: SearchText;
  readonly completion: Completion;
  readonly onStep: (isBackwards: boolean) => void;
  readonly leave: () => void;
}

/** Handles a key in the box; true if it was used. */
export function onSearchKey(
  { key, shiftKey }: { readonly key: string; readonly shiftKey: boolean },
  { text, completion, onStep, leave }: SearchKeyTarget,
): boolean {
  const { option } = completion;
  switch (key) {
    case 'ArrowDown':
      completion.step(1);
      return true;
    case 'ArrowUp':
      completion.step(-1);
      return true;
    case 'Tab':
      if (option === undefined) return false;
      completion.choose(option);
      return true;
    case 'Enter':
      if (option !== undefined) completion.choose(option);
      else {
        completion.setOpen(false);
        text.apply(text.draft);
        if (text.draft.trim() !== '') onStep(shiftKey);
      }
      return true;
    case 'Escape':
      completion.setOpen(false);
      if (option !== undefined) return true;
      if (text.draft === '') leave();
      else text.apply('');
      return true;
    default:
      return false;
  }
}
