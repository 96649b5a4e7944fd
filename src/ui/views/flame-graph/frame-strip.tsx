import { Filter, List, Rows3 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { StackView } from '../../../device/model/types.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { useStores } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import { CopyButton } from '../../shared/buttons.tsx';
import { StackList } from '../../shared/stack-list.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { countText, type FlameFigures, shareText } from './flame-labels.ts';
import type { FlameSelection } from './flame-selection.ts';

interface FrameStripProps {
  readonly selection: FlameSelection | undefined;
  readonly totalMagnitude: number;
  readonly figures: FlameFigures;
}

/** The chosen box or row: its figures, its stack, and links to its allocations and events. */
export function FrameStrip({ selection, totalMagnitude, figures }: FrameStripProps) {
  if (selection === undefined) {
    return (
      <section className="row bar frame-strip" aria-label="Chosen frame">
        <p className="dim">Click a box or a row to see its memory, stack and allocations here.</p>
      </section>
    );
  }
  const { label, place, fullPlace, value, magnitude, count, self } = selection;
  const { format, isDifference } = figures;
  return (
    <section className="row bar frame-strip" aria-label="Chosen frame">
      <div className="row frame-strip-head" aria-live="polite">
        <strong className="one-line frame-strip-name" title={label}>
          {label}
        </strong>
        {place !== '' && (
          <CopyButton text={fullPlace} label={fullPlace} className="frame-place">
            <span>{place}</span>
          </CopyButton>
        )}
        <span className="frame-strip-figures">
          <span title={format.exact(value)}>{format.short(value)}</span>
          <span className="dim">{shareText(magnitude, totalMagnitude)}</span>
          <span className="dim">{countText(count, isDifference)}</span>
          {self !== undefined && !isDifference && (
            <span className="dim" title="Allocated by this frame itself, not by its callees">
              itself {format.short(self)}
            </span>
          )}
        </span>
      </div>
      <FrameActions selection={selection} />
      <SelectedStack selection={selection} />
    </section>
  );
}

function FrameActions({ selection }: { readonly selection: FlameSelection }) {
  const { view } = useStores();
  const { search: term } = selection;
  const go = (change: Partial<ViewState>) => () => {
    if (term === undefined) return;
    const search = addTerm(view.getState().view.search, term);
    view.commit({ search, ...change });
  };
  const button = (icon: ReactNode, text: string, does: string, change: Partial<ViewState>) => (
    <button
      type="button"
      className="button"
      disabled={term === undefined}
      title={
        term === undefined
          ? 'There is no search for allocations without a frame'
          : `${does}: ${term}`
      }
      onClick={go(change)}
    >
      {icon}
      {text}
    </button>
  );
  return (
    <div className="inline-row frame-actions">
      {button(<Filter size={13} aria-hidden />, 'Filter to this', 'In all views', {
        onlyMatches: true,
      })}
      {button(<Rows3 size={13} aria-hidden />, 'Allocations', 'List its allocations', {
        view: 'allocations',
      })}
      {button(<List size={13} aria-hidden />, 'Events', 'List its events', { view: 'events' })}
    </div>
  );
}

/** Folded at first: the graph above shows the same. */
function SelectedStack({ selection }: { readonly selection: FlameSelection }) {
  const { frames, stack } = selection;
  const asked = useStack(stack);
  const shown = frames === undefined ? asked : { kind: 'recorded' as const, frames };
  if (shown === undefined || shown.frames.length < 2) return undefined;
  return (
    <details className="frame-stack">
      <summary>Stack, innermost first ({shown.frames.length})</summary>
      <StackList stack={shown} />
    </details>
  );
}

function useStack(stack: number): StackView | undefined {
  const { value, isCurrent } = useQuery('flameStack', stack < 0 ? undefined : { stack });
  return isCurrent ? value : undefined;
}
