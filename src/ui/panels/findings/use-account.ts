/** What the account does outside its panel: lines in the plots, names for the search, and what a click shows. */
import { useEffect, useState } from 'react';
import type { Account } from '../../../analysis/account/types.ts';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { addTerm, hasTerm, parseSearch, removeTerm } from '../../../device/search/parse-search.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { openingCursor } from '../../../state/view-fitting.ts';
import { useOverlayStore } from '../../plot/plot-source.ts';
import { useAnalysis, useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import { type AccountPart, isFree, isWholeClass, namedParts, termsOf } from './account-parts.ts';

/** While mounted, draws the limit and the steps in the plots, and registers the rows' names for the search. */
export function useJudgementInViews(judgement: Judgement | undefined): void {
  const overlays = useOverlayStore();
  const { view } = useStores();
  const ask = useAsk();
  useMomentOfVerdict(judgement);
  useEffect(() => {
    if (judgement === undefined) return;
    const { account, steps } = judgement;
    overlays.setState({ limitBytes: account.limitBytes, steps });
    return () => overlays.setState({ limitBytes: undefined, steps: undefined });
  }, [overlays, judgement]);
  useEffect(() => {
    if (judgement === undefined) return;
    // Without the session there is nothing to search, and the views report that.
    const named = ask('nameParts', { parts: namedParts(judgement, undefined) }).catch(
      () => undefined,
    );
    void named.then(() => {
      const { search } = view.getState().view;
      // A link's `part:` search ran before the name was known: change the text to run it again.
      if (search.includes('part:'))
        view.adjust({ search: search.endsWith(' ') ? search.trimEnd() : `${search} ` });
    });
  }, [judgement, ask, view]);
}

/** Files open at the peak of reserved memory beyond need. If the verdict is about another moment, go there. */
function useMomentOfVerdict(judgement: Judgement | undefined): void {
  const { view } = useStores();
  const { device } = useDevice();
  useEffect(() => {
    if (judgement === undefined || judgement.verdict.cause === 'fragmentation') return;
    const { why, event } = judgement.account.moment;
    const isUntouched = view.getState().view.cursor === openingCursor(device);
    if (why === 'peak' && event >= 0 && isUntouched) view.adjust({ cursor: event });
  }, [judgement, view, device]);
}

/**
 * The account at the cursor, while `isWanted`. The previous one stays until it arrives; stale requests are canceled.
 */
export function useAccountAtCursor(judgement: Judgement, isWanted: boolean): Account | undefined {
  const { analysis } = useAnalysis();
  const { device } = useDevice();
  const ask = useAsk();
  const event = useView(({ cursor }) => cursor) ?? device.events - 1;
  const [found, setFound] = useState<Account>();
  // Keeps the worker, which has a copy of the device, for the next event.
  useEffect(() => (isWanted ? analysis.hold() : undefined), [analysis, isWanted]);
  useEffect(() => {
    if (!isWanted) return;
    const controller = new AbortController();
    const { signal } = controller;
    async function load(): Promise<void> {
      const account = await analysis.query(
        'account',
        { deviceIndex: device.index, event },
        { signal },
      );
      if (signal.aborted) return;
      await ask('nameParts', { parts: namedParts(judgement, account) });
      setFound(account);
    }
    // If the worker is gone, the last account stays; the findings report the failure.
    load().catch(() => undefined);
    return () => controller.abort();
  }, [analysis, ask, device, event, isWanted, judgement]);
  return found;
}

interface PartFilter {
  readonly isOn: boolean;
  /** Filters all views to the part at its moment, or clears that; for free memory, shows where it lies. */
  readonly toggle: () => void;
}

export function usePartFilter(part: AccountPart, event: EventIndex): PartFilter {
  const { view } = useStores();
  const show = useShowPart();
  const { ofClass, own } = termsOf(part);
  const isThere = (search: string, term: string | undefined) =>
    term !== undefined && hasTerm(search, term);
  const isOn = useView(({ search }) => isThere(search, ofClass) || isThere(search, own));

  function clear(): void {
    const { search } = view.getState().view;
    view.commit({ search: removeTerm(removeTerm(search, own), ofClass ?? own) });
  }

  return { isOn, toggle: () => void (isOn ? clear() : show(part, event)) };
}

export function useShowPart(): (part: AccountPart, event: EventIndex) => Promise<void> {
  const { view } = useStores();
  const ask = useAsk();
  return async (part, event) => {
    const { ofClass, own } = termsOf(part);
    const cursor = event < 0 ? undefined : event;
    const { search } = view.getState().view;
    if (isFree(part.kind)) {
      // Gaps lie between blocks, so the map shows them; empty segments are listed in the allocator state.
      const place = part.kind === 'gaps' ? 'address-map' : 'allocator-state';
      view.commit({ view: place, cursor, x: 'all', addresses: 'fit' });
      return;
    }
    const totals = ofClass && (await ask('classTotals', { event }).catch(() => undefined));
    const term = totals && isWholeClass(part, totals) ? ofClass : own;
    view.click('account', { search: addTerm(withoutParts(search), term ?? own), cursor });
  };
}

/** Two parts share no block, so a new part replaces the last one. */
function withoutParts(search: string): string {
  return parseSearch(search)
    .terms.filter(({ kind }) => kind === 'part' || kind === 'class')
    .reduce((rest, { text }) => removeTerm(rest, text), search);
}
