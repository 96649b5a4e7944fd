import type { Completion } from './completion.ts';
import type { SearchText } from './use-search-text.ts';

export interface SearchKeyTarget {
  readonly text: SearchText;
  readonly completion: Completion;
  readonly onStep: (isBackwards: boolean) => void;
  /** Gives the focus up. */
  readonly leave: () => void;
}

/** What a key in the box does; true when it was taken. */
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
