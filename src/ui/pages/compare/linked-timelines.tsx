import { useEffect, useMemo } from 'react';
import type { SiteHalf } from '../../../analysis/compare/types.ts';
import { formatBytes, formatCount } from '../../../base/format.ts';
import { MEMORY_CLASSES } from '../../../device/classes/types.ts';
import { frameTerm, searchTerm } from '../../../device/search/qualifier.ts';
import type { Range, ViewStore } from '../../../state/view-store.ts';
import { ClassKey } from '../../plot/class-key.tsx';
import { Plot } from '../../plot/plot.tsx';
import { useServices } from '../../shared/services.ts';
import { timelineSource } from '../../views/timeline/timeline-source.ts';
import { CounterReadout } from '../../views/timeline/timeline-view.tsx';
import { type AxisLink, fromCommon, toCommon } from './linked-axis.ts';
import { type ComparedSide, type OpenSide, SideName, SideProvider } from './sides.tsx';
import type { SiteRow } from './site-rows.ts';

interface LinkedTimelinesProps {
  readonly a: ComparedSide;
  readonly b: ComparedSide;
  readonly link: AxisLink;
  readonly window: Range | undefined;
  readonly onWindow: (window: Range | undefined) => void;
}

/** Both timelines, one above the other, with one byte scale and one window. */
export function LinkedTimelines(props: LinkedTimelinesProps) {
  const { a, b } = props;
  useLinkedHeights(a.view, b.view);
  useLinkedWindows(props);
  const reachesOf = ({ open: { device } }: ComparedSide) =>
    [device.peaks.activeBytes, device.peaks.reservedBytes].map(({ bytes }) => bytes);
  const reachBytes = Math.max(1, ...reachesOf(a), ...reachesOf(b));
  const classes = new Set([a, b].flatMap(({ side }) => side.sites.map((site) => site.class)));
  const has = (one: { class: number }) => classes.has(MEMORY_CLASSES[one.class]?.id ?? '');
  return (
    <div className="compare-timelines">
      <ClassKey has={has} />
      {[a, b].map((side) => (
        <SideProvider key={side.open.letter} {...side}>
          <SideTimeline {...side} reachBytes={reachBytes} />
        </SideProvider>
      ))}
    </div>
  );
}

const HINT = `Every allocation is a band as tall as its block, the oldest at the bottom. Arrow keys pan,
plus and minus zoom, F shows all; the other timeline follows.`;

interface SideTimelineProps extends ComparedSide {
  /** The higher of the two: both plots share one byte scale. */
  readonly reachBytes: number;
}

function SideTimeline({ open, view, side, reachBytes }: SideTimelineProps) {
  const { letter, device, session } = open;
  const source = useMemo(
    () => ({
      ...timelineSource(device, session, () => view.getState().view),
      heights: () => ({ reachBytes, fittedBytes: reachBytes }),
    }),
    [device, session, view, reachBytes],
  );
  const { event, counters } = side;
  return (
    <section className="view compare-timeline" aria-label={`Timeline of ${letter}`}>
      <p className="inline-row compare-timeline-head">
        <SideName {...open} />
        <span className="dim">
          {formatBytes(counters.allocatedBytes)} allocated after event {formatCount(event)}
        </span>
      </p>
      {device.events === 0 ? (
        <p className="note dim">No history was recorded: only what was live at the end is known.</p>
      ) : (
        <Plot
          source={source}
          label={`Memory of ${letter} over events`}
          kind="stacked timeline"
          hint={HINT}
          testId={`timeline-${letter.toLowerCase()}`}
          figures={<CounterReadout />}
        />
      )}
    </section>
  );
}

function useLinkedHeights(a: ViewStore, b: ViewStore): void {
  useEffect(() => {
    const follow = (own: ViewStore, other: ViewStore) =>
      own.subscribe(({ view: { y } }) => {
        if (other.getState().view.y !== y) other.adjust({ y });
      });
    return stopping(follow(a, b), follow(b, a));
  }, [a, b]);
}

const stopping =
  (...stops: readonly (() => void)[]) =>
  () => {
    for (const stop of stops) stop();
  };

function useLinkedWindows({ a, b, link, window, onWindow }: LinkedTimelinesProps): void {
  useEffect(() => {
    const follow = ({ view, side }: ComparedSide) =>
      view.subscribe((now, before) => {
        const { x } = now.view;
        // Only moves of this plot count, not those copied from the other one.
        if (x === before.view.x || now.moves + now.commits === before.moves + before.commits)
          return;
        onWindow(x === 'all' ? undefined : mapped(x, (event) => toCommon(link, side, event)));
      });
    return stopping(follow(a), follow(b));
  }, [a, b, link, onWindow]);
  useEffect(() => {
    for (const { view, side } of [a, b]) {
      const x =
        window === undefined ? 'all' : mapped(window, (place) => fromCommon(link, side, place));
      if (!isNear(view.getState().view.x, x)) view.adjust({ x });
    }
  }, [a, b, link, window]);
}

const mapped = ({ from, to }: Range, map: (at: number) => number): Range => ({
  from: map(from),
  to: map(to),
});

/** Ignores the rounding error of converting a window there and back, so the moved plot stays as it is. */
function isNear(x: Range | 'all', wanted: Range | 'all'): boolean {
  if (x === 'all' || wanted === 'all') return x === wanted;
  const tolerance = 1e-6 * (x.to - x.from);
  return Math.abs(x.from - wanted.from) < tolerance && Math.abs(x.to - wanted.to) < tolerance;
}

/** Puts the row's search into the views of both sides, and removes it when no row is followed. */
export function useFollowedRow(row: SiteRow | undefined, a: ComparedSide, b: ComparedSide): void {
  const { idle } = useServices();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    async function follow({ open, view }: ComparedSide, half: SiteHalf | undefined) {
      // A side without its session shows none.
      const search = row && (await searchOf(open, half, row.class, signal).catch(() => ''));
      if (!signal.aborted) view.adjust({ search: search ?? '', onlyMatches: false });
    }
    void idle.during(() => Promise.all([follow(a, row?.a), follow(b, row?.b)]));
    return () => controller.abort();
  }, [row, a, b, idle]);
}

/** Searches for one of the row's allocations if it is a single call stack, else for its line. */
async function searchOf(
  { session, device }: OpenSide,
  half: SiteHalf | undefined,
  className: string,
  signal: AbortSignal,
): Promise<string> {
  if (half === undefined || half.example < 0) return '';
  if (className === 'before-recording') return '';
  const frame = half.stacks.length > 1 ? half.frame : undefined;
  if (frame !== undefined) return `${frameTerm(frame)} class:${className}`;
  const request = { deviceIndex: device.index, index: half.example };
  const { label } = await session.query('allocation', request, { signal });
  return `${searchTerm('site', label)} class:${className}`;
}
