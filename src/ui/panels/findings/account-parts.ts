/** Each row of an account: its name, its color, the search that finds its blocks, and what a click on it shows. */
import { useCallback, useEffect } from 'react';
import {
  type Account,
  type AccountEntry,
  type EntryKind,
  entryLabel,
  isFree,
} from '../../../analysis/account/types.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import type { Judgement } from '../../../analysis/verdict/verdict.ts';
import { formatBytes } from '../../../base/format.ts';
import {
  type ClassTotal,
  classTerm,
  MEMORY_CLASSES,
  type MemoryClass,
} from '../../../device/classes/types.ts';
import { addTerm, hasTerm, parseSearch, removeTerm } from '../../../device/search/parse-search.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import type { NamedPart } from '../../../device/search/qualifiers/names.ts';
import type { ColorBy } from '../../../draw/timeline/types.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { openingCursor } from '../../../state/view-fitting.ts';
import { useOverlayStore } from '../../plot/plot-source.ts';
import { useAnalysis, useDevice, useFindings } from '../../shared/services.ts';
import { useAsk, useComposedQuery } from '../../shared/use-query.ts';
import { classColors, plotColors, type ThemeName } from '../../theme/palette.ts';
import { partsOfFindings } from './show-finding.ts';

/** The names of what the line of a calm verdict allocated, and of what another verdict is about. */
const [MOST, CAUSE] = ['most', 'cause'];

/** Memory that a healthy run would not have, or that the classes describe less well. */
export const isCohort = (kind: EntryKind): boolean =>
  kind === 'kept' || kind === 'kept-graph' || kind === 'growing' || kind === 'second-model';

/** A row of an account and its name: 'kept', 'kept-2' for the second largest of the kind, 'kept@end'. */
export interface AccountPart extends AccountEntry {
  readonly name: string;
  readonly isFirst: boolean;
}

export function partsOf(
  { entries }: Account,
  place: '' | '@end' | '@cursor',
): readonly AccountPart[] {
  const counts = new Map<EntryKind, number>();
  return entries.map((entry) => {
    const nth = (counts.get(entry.kind) ?? 0) + 1;
    counts.set(entry.kind, nth);
    const isFirst = nth === 1;
    return { ...entry, isFirst, name: `${entry.kind}${isFirst ? '' : `-${nth}`}${place}` };
  });
}

/** The searchable blocks of every row, at all known moments. @param atCursor the account at the cursor, if requested */
function partsOfAccounts(
  { account, accountAtEnd, most, tensors }: Judgement,
  atCursor: Account | undefined,
): readonly NamedPart[] {
  const ofMost = most === undefined ? [] : [{ name: MOST, allocations: most.allocations }];
  const ofCause = tensors === undefined ? [] : [{ name: CAUSE, allocations: tensors }];
  const all = [
    ...partsOf(account, ''),
    ...(account === accountAtEnd ? [] : partsOf(accountAtEnd, '@end')),
    ...(atCursor === undefined ? [] : partsOf(atCursor, '@cursor')),
  ];
  const ofRows = all
    .filter(({ kind }) => !isFree(kind))
    .map(({ name, allocations }) => ({ name, allocations }));
  return [...ofRows, ...ofMost, ...ofCause];
}

/** The searches that find a row's blocks: by its class, if both mean the same bytes, else by its own name. */
function termsOf({ kind, name }: AccountPart) {
  const found = isCohort(kind) ? undefined : classOf(kind);
  const own = searchTerm('part', name);
  return { own, ofClass: found === undefined ? own : classTerm(found) };
}

export function isPartSearched(search: string, part: AccountPart): boolean {
  const { ofClass, own } = termsOf(part);
  return hasTerm(search, own) || hasTerm(search, ofClass);
}

export function withoutPart(search: string, part: AccountPart): string {
  const { ofClass, own } = termsOf(part);
  return removeTerm(removeTerm(search, own), ofClass);
}

/** Whether the legend shows the same figure. @param totals of the classes at that moment */
const isWholeClass = ({ kind, bytes }: AccountPart, totals: readonly ClassTotal[]): boolean =>
  totals.find((one) => one.class === classOf(kind))?.bytes === bytes;

/** Explains why a row and the legend of classes differ: the classes that the row spans, or the rows that share its class. */
export function classNote(part: AccountPart, parts: readonly AccountPart[]): string | undefined {
  if (part.classes.length > 0) {
    const counted = part.classes.map((own) => `${formatBytes(own.bytes)} ${classLabel(own)}`);
    return `By class: ${counted.join(', ')}`;
  }
  const own = part.isFirst ? classOf(part.kind) : undefined;
  const elsewhere = parts.flatMap(({ kind, classes }) => {
    const found = classes.find((one) => one.class === own);
    return found === undefined ? [] : [`${formatBytes(found.bytes)} in ${entryLabel(kind)}`];
  });
  return elsewhere.length === 0 ? undefined : `More of this class: ${elsewhere.join(', ')}`;
}

const classLabel = (total: ClassTotal): string =>
  MEMORY_CLASSES[total.class]?.label.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase()) ??
  '';

const CLASS_NAMES: Partial<Record<EntryKind, string>> = {
  growing: 'growing-state',
  'kv-cache': 'growing-state',
};

export function classOf(kind: EntryKind): MemoryClass | undefined {
  const name = CLASS_NAMES[kind] ?? kind;
  const found = MEMORY_CLASSES.findIndex(({ id }) => id === name);
  return found < 0 ? undefined : (found as MemoryClass);
}

/**
 * The color of all its blocks in the plots, if they have one: by class, unless they are of several. Otherwise a row has
 * no color, lest it be taken for a call site's; free memory has a pattern instead.
 */
export function partColor(
  theme: ThemeName,
  colorBy: ColorBy,
  { kind, classes }: Pick<AccountPart, 'kind' | 'classes'>,
): string | undefined {
  if (kind === 'pending-free') return plotColors(theme).pending;
  if (colorBy !== 'class' || isFree(kind) || classes.length > 1) return undefined;
  return classColors(theme, 'class')[classes[0]?.class ?? classOf(kind) ?? 0];
}

/** While mounted, draws the limit and the steps in the plots, and names what the search can find. */
export function useJudgementInViews(): void {
  const overlays = useOverlayStore();
  const { findings, judgement } = useFindings();
  useMomentOfVerdict(judgement);
  useNames(findings, judgement);
  useEffect(() => {
    if (judgement === undefined) return;
    const { account, steps } = judgement;
    overlays.setState({ limitBytes: account.limitBytes, steps });
    return () => overlays.setState({ limitBytes: undefined, steps: undefined });
  }, [overlays, judgement]);
}

/** Names the rows and the findings for the search; those found so far while the analysis runs. */
function useNames(findings: readonly RankedFinding[], judgement: Judgement | undefined): void {
  const { view } = useStores();
  const ask = useAsk();
  useEffect(() => {
    if (findings.length === 0 && judgement === undefined) return;
    const rows = judgement === undefined ? [] : partsOfAccounts(judgement, undefined);
    const parts = [...rows, ...partsOfFindings(findings)];
    // Without the session there is nothing to search, and the views report that.
    const named = ask('nameParts', { parts }).catch(() => undefined);
    void named.then(() => {
      const { search } = view.getState().view;
      // A link's `part:` search ran before the name was known: change the text to run it again.
      if (judgement !== undefined && search.includes('part:'))
        view.adjust({ search: search.endsWith(' ') ? search.trimEnd() : `${search} ` });
    });
  }, [findings, judgement, ask, view]);
}

/**
 * Files open at their first OOM, or at the peak of reserved memory beyond need. If the verdict is about another moment,
 * go there. Esc returns to where the page opened.
 */
function useMomentOfVerdict(judgement: Judgement | undefined): void {
  const { view } = useStores();
  const { device } = useDevice();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each device of each file opens once
  useEffect(() => view.opensAt(view.getState().view.cursor), [view, device]);
  useEffect(() => {
    if (judgement === undefined) return;
    const { why, event } = judgement.account.moment;
    if (judgement.verdict.cause === 'fragmentation' && why !== 'oom') return;
    const { opening, view: now } = view.getState();
    if (why === 'end' || event < 0 || opening !== openingCursor(device)) return;
    view.opensAt(event);
    if (now.cursor === opening) view.adjust({ cursor: event });
  }, [judgement, view, device]);
}

/** The account at the cursor, while `isWanted`. The previous one stays until it arrives, or if the worker is gone. */
export function useAccountAtCursor(judgement: Judgement, isWanted: boolean): Account | undefined {
  const { analysis } = useAnalysis();
  const { index: deviceIndex, events } = useDevice().device;
  const { findings } = useFindings();
  const ask = useAsk();
  const event = useView(({ cursor }) => cursor) ?? events - 1;
  // Keeps the worker, which has a copy of the device, for the next event.
  useEffect(() => (isWanted ? analysis.hold() : undefined), [analysis, isWanted]);
  const fetch = useCallback(
    async (request: { readonly event: EventIndex }, signal: AbortSignal): Promise<Account> => {
      const account = await analysis.query('account', { deviceIndex, ...request }, { signal });
      signal.throwIfAborted();
      const parts = [...partsOfAccounts(judgement, account), ...partsOfFindings(findings)];
      await ask('nameParts', { parts });
      return account;
    },
    [analysis, ask, deviceIndex, findings, judgement],
  );
  return useComposedQuery(fetch, isWanted ? { event } : undefined, { cancelsStale: true }).value;
}

/** Filters all views to a part at its moment; for free memory, shows where it lies. */
export function useShowPart(): (part: AccountPart, event: EventIndex) => Promise<void> {
  const { view } = useStores();
  const ask = useAsk();
  return async (part, event) => {
    const { ofClass, own } = termsOf(part);
    const cursor = event < 0 ? undefined : event;
    const { search } = view.getState().view;
    // No search finds free memory.
    if (isFree(part.kind)) {
      // Gaps lie between blocks, so the map shows them; empty segments are listed in the allocator state.
      const place = part.kind === 'gaps' ? 'address-map' : 'allocator-state';
      view.commit({ view: place, cursor, x: 'all', addresses: 'fit' });
      return;
    }
    const totals =
      ofClass === own ? undefined : await ask('classTotals', { event }).catch(() => undefined);
    const term = totals && isWholeClass(part, totals) ? ofClass : own;
    view.click('account', { search: addTerm(withoutParts(search), term), cursor });
  };
}

/** Filters all views to what the verdict is about: of a calm one, the blocks of the line that allocated most. */
export function useShowVerdict({ most, tensors }: Partial<Judgement>) {
  const { view } = useStores();
  const name = tensors === undefined ? most && MOST : CAUSE;
  if (name === undefined) return undefined;
  return (event: EventIndex) => {
    const { search } = view.getState().view;
    const term = searchTerm('part', name);
    view.click('account', { search: addTerm(withoutParts(search), term), cursor: event });
  };
}

/** Two parts share no block, so a new part replaces the last one. */
function withoutParts(search: string): string {
  return parseSearch(search)
    .terms.filter(({ kind }) => kind === 'part' || kind === 'class')
    .reduce((rest, { text }) => removeTerm(rest, text), search);
}
