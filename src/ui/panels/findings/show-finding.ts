/** How the view must change to show a finding's evidence. */

import { detectorOf, type Finding } from '../../../analysis/findings/detectors.ts';
import { frameTerm, searchTerm } from '../../../device/search/qualifier.ts';
import { DEFAULT_FLAME, type Range, type ViewState } from '../../../state/view-store.ts';

export const EVIDENCE_VIEWS = ['timeline', 'address-map', 'flame-graph'] as const;
type EvidenceView = (typeof EVIDENCE_VIEWS)[number];

export type Shown = Pick<Finding, 'detector' | 'kind' | 'events' | 'frame' | 'searchFrame'>;
/** Evidence may have gaps: memory that was free at its last event. */
type Placed = Shown & { readonly evidence?: Pick<Finding['evidence'], 'gaps'> };

/**
 * The search for a finding's evidence. '' if the evidence is everything at the cursor, as for an OOM or a peak.
 * @param label of the largest allocation, for evidence without a line of Python
 */
function evidenceSearch(finding: Shown, label: string | undefined): string {
  const frame = finding.searchFrame ?? finding.frame;
  switch (detectorOf(finding).evidenceSearch) {
    case 'none':
      return '';
    case 'pending':
      return searchTerm('state', 'pending');
    case 'line':
      if (frame !== undefined) return frameTerm(frame);
      return label === undefined ? '' : searchTerm('site', label);
  }
}

/**
 * Like evidenceSearch, but without a cursor or a query: '' for evidence without a line, and for blocks that wait for a
 * stream, because they do so at one event only.
 */
export const markedSearch = (finding: Shown): string =>
  detectorOf(finding).evidenceSearch === 'line' ? evidenceSearch(finding, undefined) : '';

/** Selects a finding. The window stays if it already shows some of the evidence. */
export function selectedFinding(
  finding: Shown & { readonly id: string },
  view: Pick<ViewState, 'axis' | 'x'>,
  label: string | undefined,
): Partial<ViewState> {
  return {
    finding: finding.id,
    search: evidenceSearch(finding, label),
    cursor: Math.max(0, finding.events.last),
    ...(isInWindow(finding, view) ? {} : { x: 'all' as const }),
  };
}

/**
 * Deselects a finding: undoes what selecting it set, but keeps what the user has set since.
 * @param opening the cursor's initial event on this device
 */
export function leftFinding(
  finding: Shown | undefined,
  view: Pick<ViewState, 'search' | 'cursor'>,
  label: string | undefined,
  opening: ViewState['cursor'],
): Partial<ViewState> {
  if (finding === undefined) return { finding: undefined };
  return {
    finding: undefined,
    ...(view.search === evidenceSearch(finding, label) ? { search: '' } : {}),
    ...(view.cursor === Math.max(0, finding.events.last) ? { cursor: opening } : {}),
  };
}

/** Shows it in a view: around its events, at the moment that matters. */
export function shownIn(view: EvidenceView, finding: Placed, events: number): Partial<ViewState> {
  switch (view) {
    case 'timeline':
      return { view, axis: 'event', x: windowAround(finding.events, events), y: 'fit' };
    case 'address-map':
      return {
        view,
        axis: 'event',
        x: windowAround(placedEvents(finding), events),
        addresses: 'fit',
      };
    case 'flame-graph':
      return { view, flame: { ...DEFAULT_FLAME, dataset: 'cursor' } };
  }
}

/** Gaps come and go; most of them exist at the end of the finding, so take its last quarter. */
function placedEvents({ events, evidence }: Placed): Finding['events'] {
  if (evidence === undefined || evidence.gaps.length === 0) return events;
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
