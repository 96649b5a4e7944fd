import './search.css';
import { ChevronDown, ChevronUp, ListFilter, Search, X } from 'lucide-react';
import { useId, useLayoutEffect, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import type { MatchStep } from '../../../device/search/match-search.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { SearchSummary } from '../../../worker/protocol.ts';
import { useShortcuts } from '../../shared/browser.ts';
import { Button, IconButton } from '../../shared/buttons.tsx';
import { useDevice } from '../../shared/services.ts';
import { type QueryState, useQuery } from '../../shared/use-query.ts';
import { onSearchKey, useCompletion } from './completion.ts';
import { matchBytes, matchTitle, SearchPanel } from './search-panel.tsx';
import { useSearchSteps, useSearchText } from './use-search.ts';

/** One search for all views; counts the matches. The box is a combobox whose list completes terms. */
export function SearchBox() {
  const { view } = useStores();
  const search = useView((state) => state.search);
  const cursor = useView((state) => state.cursor);
  const onlyMatches = useView((state) => state.onlyMatches);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [hasFocus, setHasFocus] = useState(false);
  const text = useSearchText();
  const { step, last, failure } = useSearchSteps();
  const isSearching = search.trim() !== '';
  const answer = useQuery('searchSummary', isSearching ? { search, at: cursor } : undefined);
  const summary = isSearching ? answer.value : undefined;
  // Requested on focus only: a snapshot may have thousands of annotations.
  const known = useQuery('searchValues', hasFocus ? {} : undefined);
  const completion = useCompletion(input, text, known.value);
  const { suggested, active, setCaret, setOpen } = completion;
  const isOpen = hasFocus && suggested !== undefined;
  const problem = summary?.problem;
  // An unfinished term is not an error while the user types.
  const isWrong = problem !== undefined && !(hasFocus && problem.isUnfinished);
  const hasMatches = summary?.isFiltering === true && summary.count > 0;
  useShortcuts({ '/': () => input.current?.select() });
  // Of a term that is too long, the end says most: the file's name, its line.
  useLayoutEffect(() => {
    const box = input.current;
    // Asking for the width lays out the page.
    if (!hasFocus && box !== null && box.value !== '') box.scrollLeft = box.scrollWidth;
  });
  return (
    <search className="inline-row search-box" aria-label="Search">
      <div className="field inline-row search-field" data-problem={isWrong || undefined}>
        <Search size={14} aria-hidden />
        <input
          ref={input}
          data-testid="search"
          className="search-input"
          type="text"
          role="combobox"
          aria-label="Search allocations"
          aria-expanded={isOpen}
          aria-controls={isOpen ? `${id}-list` : undefined}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
          aria-invalid={isWrong}
          aria-describedby={hasFocus && problem !== undefined ? `${id}-notes` : undefined}
          placeholder="Search ( / )"
          title={
            text.draft === ''
              ? 'Search functions, files, addresses, sizes, states (/)'
              : hasFocus
                ? undefined
                : text.draft
          }
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={text.draft}
          onChange={({ currentTarget: { value, selectionStart } }) => {
            const caret = selectionStart ?? value.length;
            text.type(value);
            setCaret(caret);
            // Between words, the list would only hide the results.
            setOpen(/\S$/.test(value.slice(0, caret)));
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
          onKeyDown={(event) => {
            const leave = () => input.current?.blur();
            const target = { text, completion, onStep: step, leave };
            if (onSearchKey(event, target)) event.preventDefault();
          }}
          onFocus={() => {
            text.begin();
            setHasFocus(true);
            setOpen(text.draft === '');
          }}
          onBlur={() => setHasFocus(false)}
        />
        {isSearching && (
          <Outcome answer={answer} isTyped={hasFocus} last={last} stepFailure={failure} />
        )}
        {text.draft !== '' && (
          <Button
            icon={X}
            className="quiet"
            aria-label="Clear the search"
            title="Clear the search (Esc)"
            onClick={() => {
              text.begin();
              text.apply('');
            }}
          />
        )}
        {hasFocus && (
          <SearchPanel
            id={id}
            search={text.draft}
            summary={summary}
            suggested={suggested}
            active={active}
            onChoose={completion.choose}
          />
        )}
      </div>
      <span className="step-buttons">
        <IconButton
          icon={ChevronUp}
          label="Previous match"
          title="Select the previous match (Shift+Enter in the box)"
          disabled={!hasMatches}
          onClick={() => step(true)}
        />
        <IconButton
          icon={ChevronDown}
          label="Next match"
          title="Select the next match, in order of allocation (Enter in the box)"
          disabled={!hasMatches}
          onClick={() => step(false)}
        />
        <IconButton
          icon={ListFilter}
          label="Only matches"
          aria-pressed={onlyMatches}
          title="Hide what does not match; otherwise it is dimmed"
          onClick={() => view.commit({ onlyMatches: !onlyMatches })}
        />
      </span>
    </search>
  );
}

interface OutcomeProps {
  readonly answer: QueryState<unknown, SearchSummary>;
  readonly isTyped: boolean;
  readonly last: MatchStep | undefined;
  readonly stepFailure: string | undefined;
}

/** '1,234 · 2.05 GiB at the peak', or why not; after a step '3 of 1,234'. */
function Outcome({ answer, isTyped, last, stepFailure }: OutcomeProps) {
  const { device } = useDevice();
  const selection = useView((state) => state.selection);
  const failure = answer.failure ?? stepFailure;
  const summary = answer.value;
  const problem = summary?.problem;
  const shown = (text: string, title: string, isBad: boolean) => (
    <output
      className="dim small one-line search-outcome"
      role={failure === undefined ? undefined : 'alert'}
      data-tone={isBad ? 'danger' : undefined}
      aria-busy={failure === undefined && !answer.isCurrent}
      title={title}
    >
      {text}
    </output>
  );
  if (failure !== undefined) return shown(`failed: ${failure}`, failure, true);
  if (problem !== undefined && isTyped && problem.isUnfinished) return undefined;
  if (problem !== undefined) return shown('invalid search', problem.message, true);
  if (summary === undefined) return undefined;
  const title = matchTitle(summary, device.allocations);
  if (summary.count === 0) return shown('no match', title, true);
  const position = last?.label === selection ? last?.position : undefined;
  const place = position === undefined ? '' : `${formatCount(position)} of `;
  const found = `${place}${formatCount(summary.count)} · ${matchBytes(summary, device)}`;
  return shown(found, title, false);
}
