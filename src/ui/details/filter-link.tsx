import type { ReactNode } from 'react';
import { hasTerm, toggleTerm } from '../../core/search/edit-search.ts';
import { useStores, useView } from '../../state/stores.ts';

interface FilterLinkProps {
  /** The search that finds what the children name. */
  readonly term: string;
  readonly children: ReactNode;
}

/** Filters all views to what it names; clicked again it shows all. */
export function FilterLink({ term, children }: FilterLinkProps) {
  const { view } = useStores();
  const isOn = useView(({ search }) => hasTerm(search, term));
  return (
    <button
      type="button"
      className="filter-link"
      aria-pressed={isOn}
      title={`${isOn ? 'Show all again' : 'Show these alone'}: ${term}`}
      onClick={() => view.commit({ search: toggleTerm(view.getState().view.search, term) })}
    >
      {children}
    </button>
  );
}
