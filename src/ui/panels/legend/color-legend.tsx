import { startTimer } from '../../../base/task.ts';
import { Button } from '../../shared/buttons.tsx';
import './color-legend.css';
import { ChevronDown } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import { hasTerm, toggleTerm } from '../../../device/search/parse-search.ts';
import type { Legend, LegendEntry } from '../../../draw/coloring/legend.ts';
import {
  namedSites,
  type SiteColors,
  siteColorsInView,
} from '../../../draw/coloring/site-colors.ts';
import type { ColorBy } from '../../../draw/timeline/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { LegendRequest } from '../../../worker/protocol.ts';
import { Choice } from '../../plot/plot-controls.tsx';
import { useKeys } from '../../shared/browser.ts';
import { LineLabel } from '../../shared/code-place.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery, type WithoutDevice } from '../../shared/use-query.ts';
import {
  classColors,
  otherSiteColors,
  plotColors,
  SITE_COLORS,
  type ThemeName,
} from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { shortLabels } from './short-labels.ts';

/** What the block colors mean, with the bytes of each; clicking one filters all views. */
export function ColorLegend() {
  const shown = useLegend();
  const theme = useTheme();
  const [isOpen, setIsOpen] = useState(false);
  const isTransformed = useView(({ flame }) => flame.transforms !== '');
  const section = useRef<HTMLElement>(null);
  useKeys(({ key }) => {
    if (key !== 'Escape' || !isOpen) return false;
    setIsOpen(false);
    return true;
  });
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = ({ target }: Event) =>
      !section.current?.contains(target as Node) && setIsOpen(false);
    window.addEventListener('pointerdown', closeOutside);
    return () => window.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);
  if (shown === undefined) {
    return (
      <div className="color-legend" aria-busy>
        <div className="legend-list" />
      </div>
    );
  }
  const { entries, event, totalBytes } = shown.legend;
  const { thin } = plotColors(theme);
  const labels = entries.map(({ label }) => label);
  const texts = isOpen ? labels : shortLabels(labels);
  return (
    <section
      ref={section}
      className="color-legend"
      aria-label="Colors"
      aria-busy={!shown.isCurrent}
      data-open={isOpen}
    >
      <div className="inline-row legend-head">
        <p className="legend-place" title="Active memory after this event">
          <strong>{formatBytes(totalBytes)}</strong>
          {' at'}
          <span className="legend-where"> the</span>
          {shown.isAtCursor ? ' cursor' : ' peak'}
          <span className="legend-where">
            {shown.isAtCursor ? '' : ' in view'}: event {formatCount(event)}
          </span>
        </p>
        {/* Outside the list, so that it is there however little room the list has: gray may be most of the plot. */}
        <span
          className="inline-row legend-entry"
          title="Thinner than a pixel: several blocks share these pixels. Zoom in."
        >
          <Swatch colors={[thin]} />
          <span>
            <span className="legend-where">thinner than </span>
            <span className="legend-less">&lt; </span>a pixel
          </span>
        </span>
        <Button
          className="hoverable legend-toggle"
          aria-expanded={isOpen}
          title={isOpen ? 'Back to a few rows' : 'Show every color'}
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? 'Less' : `All ${formatCount(entries.length)}`}
          <ChevronDown size={13} aria-hidden />
        </Button>
      </div>
      <div className="legend-list">
        <ul>
          {entries.map((entry, at) => (
            <li key={`${entry.label} ${entry.term}`}>
              <Entry entry={entry} text={texts[at] ?? entry.label} shown={shown} />
            </li>
          ))}
          {isTransformed && (shown.colorBy === 'stack' || shown.colorBy === 'site') && (
            <li title="The flame graph’s transforms apply to its own graph, table and downloads">
              <span className="inline-row legend-entry">stacks as recorded, not transformed</span>
            </li>
          )}
        </ul>
      </div>
    </section>
  );
}

interface EntryProps {
  readonly entry: LegendEntry;
  /** Its label, or as much of it as there is room for. */
  readonly text: string;
  readonly shown: ShownLegend;
}

function Entry({ entry, text, shown }: EntryProps) {
  const theme = useTheme();
  const { view } = useStores();
  const { label, about, term, bytes, count, swatch } = entry;
  const isOn = useView(({ search }) => term !== undefined && hasTerm(search, term));
  const figures = `${formatExactBytes(bytes)} in ${plural(count, 'block')}`;
  const title = [label, figures, about].filter((part) => part !== '').join('\n');
  const className = 'inline-row legend-entry';
  const content = (
    <>
      <Swatch colors={swatchColors(theme, shown, entry)} />
      <span className="one-line legend-label">
        <LineLabel label={text} />
      </span>
      <span className="legend-bytes" data-none={count === 0 || undefined}>
        {formatBytes(bytes)}
      </span>
    </>
  );
  if (term === undefined) return <span {...{ className, title }}>{content}</span>;
  const toggle = () => {
    const search = toggleTerm(view.getState().view.search, term);
    // Blocks are pending at one event only, so the search must use it.
    view.click('legend', { search, ...(swatch === 'pending' && { cursor: shown.legend.event }) });
  };
  return (
    <Button
      className={`${className} hoverable legend-filter`}
      aria-pressed={isOn}
      aria-label={`${label} ${formatBytes(bytes)}`}
      title={`${title}\n${isOn ? 'Clear filter' : 'Filter to these'}: ${term}`}
      onClick={toggle}
    >
      {content}
    </Button>
  );
}

function Swatch({ colors }: { readonly colors: readonly string[] }) {
  return (
    <span className="swatches" aria-hidden>
      {colors.map((color) => (
        <span key={color} style={{ background: color }} />
      ))}
    </span>
  );
}

function swatchColors(
  theme: ThemeName,
  { colorBy, siteColors }: ShownLegend,
  { swatch }: LegendEntry,
): readonly string[] {
  if (swatch === 'pending') return [plotColors(theme).pending];
  if (swatch === 'several') return otherSiteColors(theme, siteColors).slice(0, 4);
  return classColors(theme, colorBy, siteColors).slice(swatch, swatch + 1);
}

const LABELS: Readonly<Record<ColorBy, string>> = {
  class: 'class',
  stack: 'call stack',
  site: 'top call sites',
  size: 'size',
  stream: 'stream',
  pool: 'pool',
  phase: 'annotation',
  category: 'category',
  compile: 'compiled region',
};

/** Chooses what the colors mean. Options that the snapshot did not record are listed with the reason. */
export function ColorSelect() {
  const { view } = useStores();
  const choices = useQuery('colorings', {}).value;
  return (
    <Choice
      label="Color by"
      texts={LABELS}
      value={useView((state) => state.colorBy)}
      reasonOf={(colorBy) => choices?.find((one) => one.colorBy === colorBy)?.reason}
      onChoose={(colorBy) => view.commit({ colorBy })}
    />
  );
}

type ShownLegend = NonNullable<ReturnType<typeof useLegend>>;

/** A pan changes the window on each frame; the legend is requested once the window rests. */
const REST_MS = 120;

/** The legend at the cursor, else at the peak in view; undefined until it arrives. */
function useLegend() {
  const resting = useRestingRequest();
  const { value: legend, request, isCurrent } = useQuery('legend', resting, { cancelsStale: true });
  const siteColors = useSiteColors(request?.colorBy === 'stack' ? legend : undefined);
  if (legend === undefined || request === undefined) return undefined;
  const { colorBy, at } = request;
  // With the coloring of its swatches: the view may show another one by now.
  return { legend, colorBy, siteColors, isAtCursor: at !== undefined, isCurrent };
}

/** Gives the call sites in the legend distinct colors, in the plots too. */
function useSiteColors(legend: Legend | undefined): SiteColors {
  const { view } = useStores();
  const before = useView((state) => state.siteColors);
  const named = legend === undefined ? [] : namedSites(legend);
  const siteColors = legend === undefined ? before : siteColorsInView(named, before, SITE_COLORS);
  useEffect(() => {
    if (view.getState().view.siteColors !== siteColors) view.adjust({ siteColors });
  }, [view, siteColors]);
  return siteColors;
}

function useRestingRequest(): WithoutDevice<LegendRequest> {
  const { info } = useDevice();
  const { view } = useStores();
  const [request, setRequest] = useState(() => requestOf(view.getState().view));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot is asked at once
  useEffect(() => {
    let stopTimer = () => {};
    const settle = () => setRequest(requestOf(view.getState().view));
    settle();
    const unsubscribe = view.subscribe(() => {
      stopTimer();
      stopTimer = startTimer(REST_MS, settle);
    });
    return () => {
      unsubscribe();
      stopTimer();
    };
  }, [view, info]);
  return request;
}

function requestOf({ colorBy, cursor, axis, x }: ViewState): WithoutDevice<LegendRequest> {
  const classes = classColors('light', colorBy).length;
  // With a cursor the window does not matter.
  return { colorBy, classes, at: cursor, axis, x: cursor === undefined ? x : 'all' };
}
