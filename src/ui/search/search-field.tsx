import { Search, X } from 'lucide-react';
import { type KeyboardEvent, type RefObject, useId, useState } from 'react';
import type { MatchStep } from '../../core/query/search/step-match.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import type { SearchSummary } from '../../engine/answers/search.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { type Answer, useAnswer } from '../cursor/use-answer.ts';
import { SearchOutcome } from './search-outcome.tsx';
import { SearchPanel } from './search-panel.tsx';
import { complete, type Suggested, type Suggestion, suggest } from './suggestions.ts';
import type { SearchText } from './use-search-text.ts';

interface SearchFieldProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly text: SearchText;
  /** Undefined while nothing is searched for. */
  readonly answer: Answer<SearchSummary> | undefined;
  readonly last: MatchStep | undefined;
  readonly stepFailure: string | undefined;
  readonly onStep: (isBackwards: boolean) => void;
}

const askValues = (session: SessionApi, question: { readonly device: number }) =>
  session.searchValues(question);

/** The box: a combobox whose list completes terms. */
export function SearchField(props: SearchFieldProps) {
  const { input, info, device, text, answer, onStep } = props;
  const id = useId();
  const [hasFocus, setHasFocus] = useState(false);
  const [isListOpen, setIsListOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [caret, setCaret] = useState(0);
  // Asked for when the box is first used: a snapshot may have thousands of phases.
  const known = useAnswer(askValues, hasFocus ? { device: device.index } : undefined, info).value;
  const suggested = suggest(text.draft, caret, known);
  const { options } = suggested;
  const isOpen = hasFocus && isListOpen && options.length > 0;
  const problem = answer?.value?.problem;
  // Nobody who is typing a term wants to hear that it is wrong.
  const isWrong = problem !== undefined && !(hasFocus && problem.isUnfinished);

  function choose(option: Suggestion): void {
    const completed = complete(text.draft, caret, suggested, option);
    text.type(completed.text);
    setCaret(completed.caret);
    setActive(-1);
    setIsListOpen(!option.isWhole);
    const element = input.current;
    // After React has written the text.
    requestAnimationFrame(() => element?.setSelectionRange(completed.caret, completed.caret));
  }

  function onKeyDown(event: KeyboardEvent): void {
    const isTaken = onFieldKey(event, {
      text,
      onStep,
      options,
      isOpen,
      active,
      setActive,
      setIsListOpen,
      choose,
      leave: () => input.current?.blur(),
    });
    if (isTaken) event.preventDefault();
  }

  return (
    <div className="search-field" data-problem={isWrong || undefined}>
      <Search size={14} aria-hidden />
      <input
        ref={input}
        id={id}
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
        title="Search in functions, files, addresses, sizes, states (/)"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={text.draft}
        onChange={({ currentTarget }) => {
          text.type(currentTarget.value);
          setCaret(currentTarget.selectionStart ?? currentTarget.value.length);
          setActive(-1);
          setIsListOpen(true);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onKeyDown={onKeyDown}
        onFocus={() => {
          text.begin();
          setHasFocus(true);
          setIsListOpen(text.draft === '');
        }}
        onBlur={() => setHasFocus(false)}
      />
      {answer !== undefined && (
        <SearchOutcome
          answer={answer}
          isTyped={hasFocus}
          device={device}
          last={props.last}
          stepFailure={props.stepFailure}
        />
      )}
      {text.draft !== '' && (
        <button
          type="button"
          className="search-clear"
          aria-label="Clear the search"
          title="Clear the search (Esc)"
          onClick={() => {
            text.begin();
            text.apply('');
          }}
        >
          <X size={14} aria-hidden />
        </button>
      )}
      {hasFocus && (
        <SearchPanel
          id={id}
          search={text.draft}
          summary={answer?.value}
          suggested={isOpen ? suggested : undefined}
          active={active}
          onChoose={choose}
        />
      )}
    </div>
  );
}

interface FieldKeyTarget {
  readonly text: SearchText;
  readonly onStep: (isBackwards: boolean) => void;
  readonly options: Suggested['options'];
  readonly isOpen: boolean;
  readonly active: number;
  readonly setActive: (option: number) => void;
  readonly setIsListOpen: (isOpen: boolean) => void;
  readonly choose: (option: Suggestion) => void;
  readonly leave: () => void;
}

/** True when the key was taken. */
function onFieldKey(event: KeyboardEvent, target: FieldKeyTarget): boolean {
  const { text, options, isOpen, active, setActive, setIsListOpen } = target;
  const option = isOpen ? options[active] : undefined;
  switch (event.key) {
    case 'ArrowDown':
    case 'ArrowUp': {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setIsListOpen(true);
      if (options.length > 0) setActive(nextOption(active, step, options.length));
      return true;
    }
    case 'Tab':
      if (option === undefined) return false;
      target.choose(option);
      return true;
    case 'Enter':
      if (option !== undefined) {
        target.choose(option);
        return true;
      }
      setIsListOpen(false);
      text.apply(text.draft);
      if (text.draft.trim() !== '') target.onStep(event.shiftKey);
      return true;
    case 'Escape':
      setActive(-1);
      if (option !== undefined) setIsListOpen(false);
      else if (text.draft !== '') text.apply('');
      else target.leave();
      return true;
    default:
      return false;
  }
}

/** Round and round; from none (-1) to the first or the last. */
function nextOption(active: number, step: 1 | -1, count: number): number {
  if (active < 0) return step > 0 ? 0 : count - 1;
  return (active + step + count) % count;
}
