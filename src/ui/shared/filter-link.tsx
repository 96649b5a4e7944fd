import type { ReactNode } from 'react';
import { hasTerm, toggleTerm } from '../../device/search/edit-search.ts';
import { useStores, useView } from '../../state/stores.ts';

interface FilterLinkProps {
  /** The search that finds what the children name. */
  readonly term: string;
  /** What the children name. */
  readonly about?: string;
  readonly children: ReactNode;
}

/** Filters all views to what it names; clicked again it shows all. */
export function FilterLink({ term, about, children }: FilterLinkProps) {
  const { view } = useStores();
  const isOn = useView(({ search }) => hasTerm(search, term));
  const does = `${isOn ? 'Clear filter' : 'Filter to these'}: ${term}`;
  return (
    <button
      type="button"
      className="filter-link"
      aria-pressed={isOn}
      title={about === undefined ? does : `${about}\n${does}`}
      onClick={() => view.commit({ search: toggleTerm(view.getState().view.search, term) })}
    >
      {children}
    </button>
  );
}
