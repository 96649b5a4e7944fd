/** The pinned allocation. The workbench looks it up once and provides it to everything below. */

import { createContext, type ReactNode, useContext, useMemo } from 'react';
import type { ClassifiedDetails } from '../../device/classes/types.ts';
import { hasTerm, toggleTerm } from '../../device/search/parse-search.ts';
import { useStores, useView } from '../../state/stores.ts';
import { Button } from './buttons.tsx';
import { useQuery } from './use-query.ts';

export type Selection =
  | { readonly kind: 'none' }
  /** The label belongs to another snapshot or device, or was made up. */
  | { readonly kind: 'missing'; readonly label: string }
  | { readonly kind: 'found'; readonly details: ClassifiedDetails };

const NONE: Selection = { kind: 'none' };

export const SelectionContext = createContext<Selection>(NONE);

export const useSelection = (): Selection => useContext(SelectionContext);

/** Index of the pinned allocation, -1 for none. */
export function useSelectedIndex(): number {
  const selection = useSelection();
  return selection.kind === 'found' ? selection.details.index : -1;
}

/** Looks up the view's selection. The last result stays until the next one is found, so nothing flickers. */
export function useFoundSelection(): Selection {
  const label = useView((view) => view.selection);
  const found = useQuery('findAllocation', label === undefined ? undefined : { label });
  // An index is valid for one snapshot only: never send it to the next one.
  const index = found.isCurrent ? found.value : undefined;
  const { value: details, failure } = useQuery(
    'allocation',
    index === undefined ? undefined : { index },
  );
  const missing = found.value === undefined ? found.request?.label : undefined;
  // If the worker is gone, there is nothing to show; the timeline reports it.
  const hasFailed = (found.failure ?? failure) !== undefined;
  return useMemo(() => {
    if (label === undefined || hasFailed) return NONE;
    if (missing !== undefined) return { kind: 'missing', label: missing };
    return details === undefined ? NONE : { kind: 'found', details };
  }, [label, hasFailed, missing, details]);
}

interface FilterLinkProps {
  readonly term: string;
  readonly about?: string;
  readonly children: ReactNode;
}

/** Filters all views to what it names; a second click clears the filter. */
export function FilterLink({ term, about, children }: FilterLinkProps) {
  const { view } = useStores();
  const isOn = useView(({ search }) => hasTerm(search, term));
  const does = `${isOn ? 'Clear filter' : 'Filter to these'}: ${term}`;
  return (
    <Button
      className="filter-link"
      aria-pressed={isOn}
      title={about === undefined ? does : `${about}\n${does}`}
      onClick={() => view.commit({ search: toggleTerm(view.getState().view.search, term) })}
    >
      {children}
    </Button>
  );
}
