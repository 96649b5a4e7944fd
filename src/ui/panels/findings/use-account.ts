/** What the account does beyond its panel: lines in the plots, names for the search, and what a click shows. */
import { useEffect } from 'react';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { addTerm, hasTerm, parseSearch, removeTerm } from '../../../device/search/parse-search.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { useOverlayStore } from '../../plot/overlays.ts';
import { useAsk } from '../../shared/use-query.ts';
import { type AccountPart, isFree, isWholeClass, namedParts, termsOf } from './account-parts.ts';

/** The limit and the steps in the plots, for as long as this is shown; and the rows' names in the search. */
export function useJudgementInViews(judgement: Judgement | undefined): void {
  const overlays = useOverlayStore();
  const { view } = useStores();
  const ask = useAsk();
  useEffect(() => {
    if (judgement === undefined) return;
    const { account, steps } = judgement;
    overlays.setState({ limitBytes: account.limitBytes, steps });
    return () => overlays.setState({ limitBytes: undefined, steps: undefined });
  }, [overlays, judgement]);
  useEffect(() => {
    if (judgement === undefined) return;
    // Without the session there is nothing to search in, and the views say so.
    const named = ask('nameParts', { parts: namedParts(judgement) }).catch(() => undefined);
    void named.then(() => {
      const { search } = view.getState().view;
      // A link that names a part was answered before it had the name: another text is asked anew.
      if (search.includes('part:'))
        view.adjust({ search: search.endsWith(' ') ? search.trimEnd() : `${search} ` });
    });
  }, [judgement, ask, view]);
}

interface PartFilter {
  readonly isOn: boolean;
  /** Filters all views to the part at its moment, or clears that; free memory is shown where it lies. */
  readonly toggle: () => void;
}

export function usePartFilter(part: AccountPart, event: EventIndex): PartFilter {
  const { view } = useStores();
  const ask = useAsk();
  const { ofClass, own } = termsOf(part);
  const isThere = (search: string, term: string | undefined) =>
    term !== undefined && hasTerm(search, term);
  const isOn = useView(({ search }) => isThere(search, ofClass) || isThere(search, own));

  async function show(): Promise<void> {
    const cursor = event < 0 ? undefined : event;
    const { search } = view.getState().view;
    if (isFree(part.kind)) {
      // Gaps lie between blocks, which the map shows; whole segments are listed in the state.
      const place = part.kind === 'gaps' ? 'address-map' : 'allocator-state';
      view.commit({ view: place, cursor, x: 'all', addresses: 'fit' });
      return;
    }
    const totals = ofClass && (await ask('classTotals', { event }).catch(() => undefined));
    const term = totals && isWholeClass(part, totals) ? ofClass : own;
    view.click('account', { search: addTerm(withoutParts(search), term ?? own), cursor });
  }

  function clear(): void {
    const { search } = view.getState().view;
    view.commit({ search: removeTerm(removeTerm(search, own), ofClass ?? own) });
  }

  return { isOn, toggle: () => void (isOn ? clear() : show()) };
}

/** Two parts have no block in common: the one that is clicked takes the place of the last. */
function withoutParts(search: string): string {
  return parseSearch(search)
    .terms.filter(({ condition }) => condition.kind === 'part' || condition.kind === 'class')
    .reduce((rest, { text }) => removeTerm(rest, text), search);
}
