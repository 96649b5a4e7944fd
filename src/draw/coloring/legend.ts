/** The bytes of each color at one event, shown beside a legend's swatches. */

import { sumBy } from '../../base/collections.ts';
import { plural } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { waitsFrom } from '../../device/model/waits.ts';
import { searchTerm } from '../../device/search/qualifier.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { columnRanges } from '../timeline/columns.ts';
import type { TimelineIndex } from '../timeline/timeline-index.ts';
import type { ColorBy, TimeAxis } from '../timeline/types.ts';
import type { Coloring, ColorLabel } from './first-colorings.ts';
import { siteLabels } from './site-labels.ts';

export interface LegendEntry extends ColorLabel {
  /** Palette row; 'pending' if it waits for another stream, 'several' for more than one color. */
  readonly swatch: number | 'pending' | 'several';
  readonly bytes: number;
  readonly count: number;
}

export type Legend = ReturnType<typeof legendAt>;

/** Maximum number of stacks to name; there may be thousands. */
const NAMED_STACKS = 8;

/**
 * Classes that are empty at the event stay listed with 0, because a legend that jumps is hard to use; call sites come and
 * go.
 */
export function legendAt(
  context: DeviceModel,
  index: TimelineIndex,
  colorBy: ColorBy,
  coloring: Coloring,
  event: EventIndex,
) {
  const isByStack = colorBy === 'stack';
  const sums = new Map<LegendEntry['swatch'], Sum>();
  const sites = new Map<StackIndex, Sum>();
  const { sizeBytes, freeRequested, end, stack } = context.replay.allocations;
  // Before the first event, only memory from before the trace is live.
  const nextId = event < 0 ? index.allocations.preexisting : index.nextId(event);
  for (const live of index.maxEnd.live(event, nextId)) {
    for (const id of live) {
      const swatch =
        waitsFrom(freeRequested[id], end[id]) <= event ? 'pending' : coloring.classOf[id];
      const site = isByStack && swatch !== 'pending' ? context.stacks.siteOf(stack[id]) : -1;
      if (site > EMPTY_STACK) addBlock(sites, site, sizeBytes[id]);
      else addBlock(sums, swatch, sizeBytes[id]);
    }
  }
  const sumOf = (swatch: LegendEntry['swatch']) => ({ swatch, ...(sums.get(swatch) ?? newSum()) });
  const byClass = coloring.classes.map(({ class: of, ...meaning }): LegendEntry => {
    return { ...meaning, ...sumOf(of) };
  });
  const pending: LegendEntry = {
    label: 'pending free',
    about: 'Your program freed these blocks, but another stream may still use them.',
    term: searchTerm('state', 'pending'),
    ...sumOf('pending'),
  };
  const entries = [
    ...stackEntries(context, coloring, sites),
    ...byClass.filter(({ count }) => !isByStack || count > 0),
    ...(pending.count > 0 || (index.hasWaits && !isByStack) ? [pending] : []),
  ];
  if (isByStack || colorBy === 'class') entries.sort(largestFirst);
  /** The state after the event; `totalBytes` is its active memory. */
  return { event, totalBytes: sumBy(entries, ({ bytes }) => bytes), entries };
}

/** What part of the trace a legend is about. */
export interface LegendPlace {
  /** The cursor; undefined means the window's peak of active memory. */
  readonly at: EventIndex | undefined;
  readonly axis: TimeAxis;
  readonly x: { readonly from: number; readonly to: number } | 'all';
}

/** -1 for a window without events. */
export function legendEvent(
  { replay, trace }: DeviceModel,
  index: TimelineIndex,
  { at, axis, x }: LegendPlace,
): EventIndex {
  if (at !== undefined) return Math.min(at, trace.events.length - 1);
  if (x === 'all') return replay.peaks.activeBytes.event;
  const ranges = columnRanges(index, { axis, x0: x.from, x1: x.to, width: 1 });
  const first = ranges.first[0];
  if (first < 0) return -1;
  return index.counter('activeBytes').scan(first, ranges.last[0]).argmax;
}

/** The first row is the largest; "several" is not a color, so it goes last. */
function largestFirst(a: LegendEntry, b: LegendEntry): number {
  const isSeveral = ({ swatch }: LegendEntry) => Number(swatch === 'several');
  return isSeveral(a) - isSeveral(b) || b.bytes - a.bytes;
}

interface Sum {
  bytes: number;
  count: number;
}

const newSum = (): Sum => ({ bytes: 0, count: 0 });

function addBlock<K>(sums: Map<K, Sum>, key: K, bytes: number): void {
  const sum = sums.get(key) ?? newSum();
  sums.set(key, sum);
  sum.bytes += bytes;
  sum.count++;
}

function stackEntries(
  context: DeviceModel,
  { classOf }: Coloring,
  sites: ReadonlyMap<StackIndex, Sum>,
): LegendEntry[] {
  const { first, rowOf } = context.callSites();
  const heaviest = [...sites].sort(([, a], [, b]) => b.bytes - a.bytes);
  const swatches = heaviest.map(([site]) => classOf[first[rowOf(site)]]);
  // Sites that share a class have one color, so that none of them is named.
  const isAlone = (swatch: number) => swatches.indexOf(swatch) === swatches.lastIndexOf(swatch);
  const isNamed = (at: number) => at < NAMED_STACKS && isAlone(swatches[at]);
  const named = heaviest.flatMap(([site], at) => (isNamed(at) ? [site] : []));
  const labels = siteLabels(context, named);
  const entries: LegendEntry[] = [];
  const others: Sum[] = [];
  for (const [at, [, sum]] of heaviest.entries()) {
    if (isNamed(at)) entries.push({ ...labels[entries.length], swatch: swatches[at], ...sum });
    else others.push(sum);
  }
  if (others.length === 0) return entries;
  const label = plural(others.length, 'other call site');
  const about =
    'Too small here to get a color of its own: they share the colors that no other entry has.';
  const bytes = sumBy(others, (sum) => sum.bytes);
  const count = sumBy(others, (sum) => sum.count);
  return [...entries, { label, about, term: undefined, swatch: 'several', bytes, count }];
}
