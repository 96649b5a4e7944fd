import { formatBytes, formatCount } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { SearchProblem } from '../../../device/search/types.ts';
import type { SearchSummary } from '../../../worker/protocol.ts';
import type { Suggested, Suggestion } from './completion.ts';

interface SearchPanelProps {
  /** Id of the box, and prefix of the options' ids. */
  readonly id: string;
  readonly search: string;
  readonly summary: SearchSummary | undefined;
  readonly suggested: Suggested | undefined;
  readonly active: number;
  readonly onChoose: (option: Suggestion) => void;
}

/** Shown under the box while it has the focus: the error, why nothing matches, and completions. */
export function SearchPanel(props: SearchPanelProps) {
  const { id, search, summary, suggested } = props;
  const problem = summary?.problem;
  const isEmpty = search.trim() !== '' && summary?.isFiltering === true && summary.count === 0;
  if (problem === undefined && !isEmpty && suggested === undefined) return undefined;
  return (
    <div className="floating search-panel">
      <div id={`${id}-notes`} className="search-notes" role="status">
        {problem !== undefined && <Problem search={search} problem={problem} />}
        {isEmpty && emptyReasons(summary).map((reason) => <p key={reason}>{reason}</p>)}
      </div>
      {suggested !== undefined && <Options {...props} suggested={suggested} />}
    </div>
  );
}

/** Shows the place only if the error is about part of the text. */
function Problem({
  search,
  problem,
}: {
  readonly search: string;
  readonly problem: SearchProblem;
}) {
  const { at, length, message, isUnfinished } = problem;
  const part = search.slice(at, at + length);
  return (
    <p>
      {message}{' '}
      {!isUnfinished && part !== '' && part.length < search.length && (
        <span className="search-place mono">
          {search.slice(Math.max(0, at - CONTEXT), at)}
          <mark>{part}</mark>
          {search.slice(at + length, at + length + CONTEXT)}
        </span>
      )}
    </p>
  );
}

/** Characters shown on either side of an error. */
const CONTEXT = 24;

function Options({
  id,
  suggested,
  active,
  onChoose,
  search,
}: SearchPanelProps & { readonly suggested: Suggested }) {
  return (
    <>
      <div id={`${id}-list`} className="search-options" role="listbox" aria-label="Terms">
        {suggested.options.map((option, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the box has the focus and takes the keys
          <div
            key={option.text}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            // Otherwise the box would lose the focus and the list would close before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(option)}
          >
            <code className="one-line">{option.text}</code>
            <span className="one-line dim">{option.hint}</span>
          </div>
        ))}
      </div>
      {suggested.more > 0 && (
        <p className="note small dim">{formatCount(suggested.more)} more: keep typing</p>
      )}
      {search === '' && (
        <p className="note small dim">
          You can also search functions and files for a <code>word</code> or <code>/regex/</code>,
          or for <code>model.py:42</code> or an address such as <code>0x7f064c000000</code>. All
          terms must match. <code>-term</code> excludes; use quotes for spaces.
        </p>
      )}
    </>
  );
}

/** Bytes at the cursor, else at the peak; without a trace, at the end. */
export function matchBytes(
  { cursorBytes, peakBytes, endBytes }: SearchSummary,
  { events }: DeviceInfo,
): string {
  if (events === 0) return `${formatBytes(endBytes)} at the end`;
  return cursorBytes === undefined
    ? `${formatBytes(peakBytes)} at the peak`
    : `${formatBytes(cursorBytes)} at the cursor`;
}

export function matchTitle(summary: SearchSummary, allocations: number): string {
  const { count, blockBytes, requestedBytes, requestedUnknown } = summary;
  const { peakBytes, endBytes, cursorBytes } = summary;
  const unknown = requestedUnknown === 0 ? '' : ` (unknown for ${formatCount(requestedUnknown)})`;
  return [
    `${formatCount(count)} of ${formatCount(allocations)} allocations match`,
    ...(cursorBytes === undefined ? [] : [`${formatBytes(cursorBytes)} at the cursor`]),
    `${formatBytes(peakBytes)} at the peak`,
    `${formatBytes(endBytes)} at the end`,
    `${formatBytes(blockBytes)} added up over time`,
    `${formatBytes(requestedBytes)} of that requested${unknown}`,
  ].join('\n');
}

/** Why nothing matches: the terms that match nothing alone, or that no block matches all terms. */
export function emptyReasons({ terms }: SearchSummary): readonly string[] {
  const alone = terms.filter(({ count }) => count === 0);
  if (alone.length > 0) {
    return alone.map(({ text, note }) => `${clip(text)} matches nothing.${note ? ` ${note}` : ''}`);
  }
  const each = terms.map(({ text, count }) => `${clip(text)} (${formatCount(count)})`);
  return [`Each term matches some allocations, but none matches all terms: ${each.join(', ')}.`];
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
