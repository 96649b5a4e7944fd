/** What the view must be like for a finding's evidence to be seen. */
import { detectorOf, type Finding } from '../../../analysis/findings/detectors.ts';
import { stateTerm } from '../../../device/search/qualifiers/figures.ts';
import { frameTerm, siteTerm } from '../../../device/search/qualifiers/stacks.ts';
import { DEFAULT_FLAME, type Range, type ViewState } from '../../../state/view-store.ts';

/** Views that show a finding, in the order of their buttons. */
export const EVIDENCE_VIEWS = ['timeline', 'address-map', 'flame-graph'] as const;
type EvidenceView = (typeof EVIDENCE_VIEWS)[number];

export type Shown = Pick<Finding, 'detector' | 'kind' | 'events' | 'frame' | 'searchFrame'>;
/** What is shown at its addresses may have gaps, which were there at its last event. */
type Placed = Shown & { readonly evidence?: Pick<Finding['evidence'], 'gaps'> };

/**
 * The search that leaves a finding's evidence. '' where the evidence is all that is there at the cursor:
 * an OOM's and a peak's.
 * @param label of the largest allocation, for evidence without a line of Python
 */
function evidenceSearch(finding: Shown, label: string | undefined): string {
  const frame = finding.searchFrame ?? finding.frame;
  switch (detectorOf(finding).evidenceSearch) {
    case 'none':
      return '';
    case 'pending':
      return stateTerm('pending');
    case 'line':
      if (frame !== undefined) return frameTerm(frame);
      return label === undefined ? '' : siteTerm(label);
  }
}

/**
 * The same without a cursor and a question to the session: '' for evidence without a line, and for blocks that wait
 * for a stream, which they do at one event only.
 */
export const markedSearch = (finding: Shown): string =>
  detectorOf(finding).evidenceSearch === 'line' ? evidenceSearch(finding, undefined) : '';

/** Selects a finding. The window stays where it is as long as the evidence is in it. */
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
 * Leaves a finding: what selecting it has set goes, what the user has set since stays.
 * @param opening where the cursor of this device is at first
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

/** Gaps come and go: of all that the finding speaks of the last quarter has most of those at its end. */
function placedEvents({ events, evidence }: Placed): Finding['events'] {
  if (evidence === undefined || evidence.gaps.length === 0) return events;
  const { first, last } = events;
  return { first: Math.ceil(last - (last - Math.max(0, first)) / 4), last };
}

/** A twelfth on both sides; a single moment gets a hundredth of the trace. */
function windowAround({ first, last }: Finding['events'], events: number): Range | 'all' {
  const margin = Math.max((last - first) / 12, events / 200, 4);
  const from = Math.max(0, Math.floor(first - margin));
  const to = Math.min(events, Math.ceil(last + 1 + margin));
  return to - from > 0.9 * events ? 'all' : { from, to };
}

function isInWindow({ events }: Shown, { axis, x }: Pick<ViewState, 'axis' | 'x'>): boolean {
  if (x === 'all') return true;
  // Where events lie in time the page does not know.
  return axis === 'event' && events.last >= x.from && events.first < x.to;
}
