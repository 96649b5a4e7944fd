/** How selecting a finding changes the views, and how a finding is highlighted in the plots. */
import { type RefObject, useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { detectorOf, type Finding } from '../../../analysis/findings/detectors.ts';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import type { NamedPart } from '../../../device/search/qualifiers/names.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { DEFAULT_FLAME, type Range, type ViewState } from '../../../state/view-store.ts';
import { type Highlight, useOverlayStore } from '../../plot/plot-source.ts';
import { isOverlayOpen, useKeys } from '../../shared/browser.ts';

export const EVIDENCE_VIEWS = ['timeline', 'address-map', 'flame-graph'] as const;
type EvidenceView = (typeof EVIDENCE_VIEWS)[number];

type Shown = Pick<RankedFinding, 'detector' | 'kind' | 'events' | 'moment' | 'part' | 'evidence'>;

/** Whether selecting it filters the views to its blocks: of a failed request, everything is live. */
export const hasBlocks = (finding: Shown): boolean =>
  detectorOf(finding).evidenceSearch === 'blocks' && finding.evidence.allocations.length > 0;

/** The search for a finding's evidence. '' if the evidence is everything at the cursor, as for an OOM, or no block. */
function evidenceSearch(finding: Shown): string {
  if (hasBlocks(finding)) return searchTerm('part', finding.part);
  return detectorOf(finding).evidenceSearch === 'pending' ? searchTerm('state', 'pending') : '';
}

/** The blocks that `part:` finds for each finding. */
export const partsOfFindings = (findings: readonly RankedFinding[]): readonly NamedPart[] =>
  findings
    .filter(hasBlocks)
    .map(({ part: name, evidence: { allocations } }) => ({ name, allocations }));

/** Selects a finding. The window stays if it already shows some of the evidence. */
export function selectedFinding(
  finding: Shown & { readonly id: string },
  view: Pick<ViewState, 'axis' | 'x'>,
): Partial<ViewState> {
  return {
    finding: finding.id,
    search: evidenceSearch(finding),
    cursor: Math.max(0, finding.moment),
    ...(isInWindow(finding, view) ? {} : { x: 'all' as const }),
  };
}

/**
 * Deselects a finding: undoes what selecting it set, but keeps what the user has set since.
 * @param opening the event that the device opened at
 */
export function leftFinding(
  finding: Shown | undefined,
  view: Pick<ViewState, 'search' | 'cursor'>,
  opening: ViewState['cursor'],
): Partial<ViewState> {
  if (finding === undefined) return { finding: undefined };
  return {
    finding: undefined,
    ...(view.search.trimEnd() === evidenceSearch(finding) && { search: '' }),
    ...(view.cursor === Math.max(0, finding.moment) && { cursor: opening }),
  };
}

/** Shows it in a view: around its events, at the moment that matters. */
export function shownIn(view: EvidenceView, finding: Shown, events: number): Partial<ViewState> {
  if (view === 'flame-graph') return { view, flame: { ...DEFAULT_FLAME, dataset: 'cursor' } };
  const isMap = view === 'address-map';
  const x = windowAround(isMap ? placedEvents(finding) : finding.events, events);
  return { view, axis: 'event', x, ...(isMap ? { addresses: 'fit' } : { y: 'fit' }) };
}

/** Gaps come and go; most of them exist at the end of the finding, so take its last quarter. */
function placedEvents({ events, evidence }: Shown): Finding['events'] {
  if (evidence.gaps.length === 0) return events;
  const { first, last } = events;
  return { first: Math.ceil(last - (last - Math.max(0, first)) / 4), last };
}

/** Adds a twelfth on both sides; a single moment gets a hundredth of the trace. */
function windowAround({ first, last }: Finding['events'], events: number): Range | 'all' {
  const margin = Math.max((last - first) / 12, events / 200, 4);
  const from = Math.max(0, Math.floor(first - margin));
  const to = Math.min(events, Math.ceil(last + 1 + margin));
  return to - from > 0.9 * events ? 'all' : { from, to };
}

function isInWindow({ events }: Shown, { axis, x }: Pick<ViewState, 'axis' | 'x'>): boolean {
  if (x === 'all') return true;
  // The page does not know the times of events.
  return axis === 'event' && events.last >= x.from && events.first < x.to;
}

/** The selected finding, kept in the URL, and how selecting it changes the views. */
export function useFindingSelection(findings: readonly RankedFinding[]) {
  const { view } = useStores();
  const selected = useView((state) => state.finding);

  function leave(): void {
    const { view: shown, opening } = view.getState();
    const finding = findings.find(({ id }) => id === shown.finding);
    view.commit(leftFinding(finding, shown, opening));
  }
  const choose = (finding: RankedFinding): void =>
    view.click('finding', selectedFinding(finding, view.getState().view));
  return {
    selected,
    toggle: (finding: RankedFinding) => (finding.id === selected ? leave() : choose(finding)),
    choose,
    leave,
  };
}

/**
 * Esc undoes the last click, in any view. If there was none, it runs `action`, but only in the panel or without
 * a focus: elsewhere Esc has its own meaning.
 */
export function useEscape(
  panel: RefObject<HTMLElement | null>,
  action: (() => void) | undefined,
): void {
  const { view } = useStores();
  useKeys(({ key }, target) => {
    // Popovers and dialogs close first.
    if (key !== 'Escape' || isOverlayOpen()) return false;
    if (view.undoClick()) return true;
    const isFree = target === document.body || panel.current?.contains(target) === true;
    if (action === undefined || !isFree) return false;
    action();
    return true;
  });
}

/** Whether to highlight the verdict's finding while none is selected. Lasts until the page closes. */
const leadHighlight = createStore(() => ({ isOn: true }));

export function useLeadHighlight(): readonly [isOn: boolean, toggle: () => void] {
  const { isOn } = useStore(leadHighlight);
  return [isOn, () => leadHighlight.setState({ isOn: !isOn })];
}

/** Whether the plots have something to highlight: of a request that failed there is one event. */
export const canHighlight = (finding: Shown): boolean =>
  hasBlocks(finding) || finding.events.last > finding.events.first;

/** Highlights the selected finding in the plots; while none is selected, lightly highlights the verdict's. */
export function useFindingHighlights(
  findings: readonly RankedFinding[],
  lead: RankedFinding | undefined,
): void {
  const overlays = useOverlayStore();
  const [isLeadShown] = useLeadHighlight();
  const id = useView((view) => view.finding);
  const selected = findings.find((one) => one.id === id);
  const light = id === undefined && isLeadShown ? lead : undefined;
  const finding = selected ?? light;
  const isLight = selected === undefined;
  useEffect(() => {
    if (finding === undefined) return;
    overlays.setState({ highlights: highlightsOf(finding, isLight) });
    return () => overlays.setState({ highlights: [] });
  }, [overlays, finding, isLight]);
}

/** One range, from the first event of the evidence to just past the last. */
export function highlightsOf(finding: Shown, isLight: boolean): Highlight[] {
  const { events } = finding;
  const fromEvent = Math.max(0, events.first);
  const toEvent = Math.max(fromEvent, events.last) + 1;
  // The view already searches for a selected finding's blocks. A light highlight shows none that wait for a stream,
  // because they do so at one event only.
  const search = isLight && hasBlocks(finding) ? evidenceSearch(finding) : '';
  return [{ fromEvent, toEvent, isLight, search, ...detectorOf(finding).highlight }];
}
