import { type RefObject, useState } from 'react';
import type { KnownValues } from '../../core/search/qualifiers.ts';
import { complete, type Suggested, type Suggestion, suggest } from './suggestions.ts';
import type { SearchText } from './use-search-text.ts';

/** The list under the box, and which of its options the arrow keys have reached. */
export interface Completion {
  /** Undefined while the list is closed, or has nothing to offer. */
  readonly suggested: Suggested | undefined;
  /** Place of the option in the list; -1 for none. */
  readonly active: number;
  readonly option: Suggestion | undefined;
  readonly setCaret: (caret: number) => void;
  readonly setOpen: (isOpen: boolean) => void;
  /** To the next option, or the one before, round and round; opens the list. */
  readonly step: (direction: 1 | -1) => void;
  readonly choose: (option: Suggestion) => void;
}

/** @param known undefined until the worker has told */
export function useCompletion(
  input: RefObject<HTMLInputElement | null>,
  text: SearchText,
  known: KnownValues | undefined,
): Completion {
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [caret, setCaret] = useState(0);
  const suggested = suggest(text.draft, caret, known);
  const { options } = suggested;
  const isShown = isOpen && options.length > 0;

  function setOpen(shall: boolean): void {
    setIsOpen(shall);
    setActive(-1);
  }

  function step(direction: 1 | -1): void {
    setIsOpen(true);
    const none = direction > 0 ? -1 : options.length;
    const from = active < 0 ? none : active;
    if (options.length > 0) setActive((from + direction + options.length) % options.length);
  }

  function choose(option: Suggestion): void {
    const completed = complete(text.draft, caret, suggested, option);
    text.type(completed.text);
    setCaret(completed.caret);
    setOpen(!option.isWhole);
    // After React has written the text.
    requestAnimationFrame(() => input.current?.setSelectionRange(completed.caret, completed.caret));
  }

  return {
    suggested: isShown ? suggested : undefined,
    active,
    option: isShown ? options[active] : undefined,
    setCaret,
    setOpen,
    step,
    choose,
  };
}
