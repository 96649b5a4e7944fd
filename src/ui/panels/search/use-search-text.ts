import { useCallback, useEffect, useRef, useState } from 'react';
import { useStores, useView } from '../../../state/stores.ts';

/** Longer than between two keys, shorter than a pause. */
const DEBOUNCE_MS = 150;

export interface SearchText {
  /** What stands in the box: ahead of the search of the views while typing. */
  readonly draft: string;
  readonly type: (text: string) => void;
  /** Searches for that text at once. */
  readonly apply: (text: string) => void;
  /** The next change is a new search, which Back leads away from. */
  readonly begin: () => void;
}

/**
 * The text of the box and the search of all views. The search follows the typing a moment later. Of
 * all that is typed in one go only the beginning gets an entry in the history.
 */
export function useSearchText(): SearchText {
  const { view } = useStores();
  const search = useView((state) => state.search);
  const [draft, setDraft] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const hasBegun = useRef(false);

  // A filter that was clicked elsewhere, or Back.
  useEffect(() => {
    clearTimeout(timer.current);
    setDraft(search);
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const apply = useCallback(
    (text: string) => {
      clearTimeout(timer.current);
      setDraft(text);
      if (text === view.getState().view.search) return;
      if (hasBegun.current) view.adjust({ search: text });
      else view.commit({ search: text });
      hasBegun.current = true;
    },
    [view],
  );
  const type = useCallback(
    (text: string) => {
      setDraft(text);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => apply(text), DEBOUNCE_MS);
    },
    [apply],
  );
  const begin = useCallback(() => {
    hasBegun.current = false;
  }, []);
  return { draft, type, apply, begin };
}
