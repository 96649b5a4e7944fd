import { formatCount } from '../../core/base/format.ts';
import type { MatchStep } from '../../core/search/step-match.ts';
import type { SearchSummary } from '../../engine/handlers/search.ts';
import { useView } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import type { QueryState } from '../shared/use-query.ts';
import { matchBytes, matchTitle } from './match-labels.ts';

interface SearchOutcomeProps {
  readonly answer: QueryState<unknown, SearchSummary>;
  /** The box has the focus. */
  readonly isTyped: boolean;
  readonly last: MatchStep | undefined;
  readonly stepFailure: string | undefined;
}

/** '1,234 · 2.05 GiB at the peak', or why not; after a step '3 of 1,234'. */
export function SearchOutcome(props: SearchOutcomeProps) {
  const { answer, isTyped, last, stepFailure } = props;
  const { device } = useDevice();
  const selection = useView((state) => state.selection);
  const failure = answer.failure ?? stepFailure;
  if (failure !== undefined) {
    return (
      <span className="search-outcome" data-tone="danger" role="alert" title={failure}>
        failed: {failure}
      </span>
    );
  }
  const summary = answer.value;
  if (summary === undefined) return undefined;
  if (summary.problem !== undefined) {
    if (isTyped && summary.problem.isUnfinished) return undefined;
    return (
      <span className="search-outcome" data-tone="danger" title={summary.problem.message}>
        not understood
      </span>
    );
  }
  const count = formatCount(summary.count);
  const place = last !== undefined && last.label === selection ? last.position : undefined;
  return (
    <output
      className="search-outcome"
      data-tone={summary.count === 0 ? 'danger' : undefined}
      aria-busy={!answer.isCurrent}
      title={matchTitle(summary, device.allocations)}
    >
      {summary.count === 0 ? (
        'no match'
      ) : (
        <>
          {place === undefined ? count : `${formatCount(place)} of ${count}`} ·{' '}
          {matchBytes(summary, device)}
        </>
      )}
    </output>
  );
}
