import './search.css';
import { ChevronDown, ChevronUp, ListFilter } from 'lucide-react';
import { useCallback, useRef } from 'react';
import { useStores, useView } from '../../../state/stores.ts';
import { IconButton } from '../../shared/icon-button.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { useShortcut } from '../../shared/use-shortcut.ts';
import { SearchField } from './search-field.tsx';
import { useSearchSteps } from './use-search-steps.ts';
import { useSearchText } from './use-search-text.ts';

/** One search for all views: what it finds is counted here and shown by each of them. */
export function SearchBox() {
  const { view } = useStores();
  const search = useView((state) => state.search);
  const cursor = useView((state) => state.cursor);
  const onlyMatches = useView((state) => state.onlyMatches);
  const text = useSearchText();
  const { step, last, failure } = useSearchSteps();
  const isSearching = search.trim() !== '';
  const answer = useQuery('searchSummary', isSearching ? { search, at: cursor } : undefined);
  const input = useRef<HTMLInputElement>(null);
  useShortcut(
    '/',
    useCallback(() => input.current?.select(), []),
  );
  const hasMatches = isSearching && answer.value?.isFiltering === true && answer.value.count > 0;
  return (
    <search className="search-box" aria-label="Search">
      <SearchField
        input={input}
        text={text}
        answer={isSearching ? answer : undefined}
        last={last}
        stepFailure={failure}
        onStep={step}
      />
      <span className="search-steps">
        <IconButton
          label="Previous match"
          title="Select the previous match (Shift+Enter in the box)"
          disabled={!hasMatches}
          onClick={() => step(true)}
        >
          <ChevronUp size={15} aria-hidden />
        </IconButton>
        <IconButton
          label="Next match"
          title="Select the next match, in order of allocation (Enter in the box)"
          disabled={!hasMatches}
          onClick={() => step(false)}
        >
          <ChevronDown size={15} aria-hidden />
        </IconButton>
        <IconButton
          label="Only matches"
          aria-pressed={onlyMatches}
          title="Hide what does not match; otherwise it is dimmed"
          onClick={() => view.commit({ onlyMatches: !onlyMatches })}
        >
          <ListFilter size={15} aria-hidden />
        </IconButton>
      </span>
    </search>
  );
}
