/** The bytes of each color at one event, shown beside a legend's swatches. */

import { plural } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { searchTerm } from '../../device/search/qualifier.ts';
import { EMPTY_STACK, type EventIndex, type StackIndex } from '../../format/snapshot/tables.ts';
import { columnRanges } from '../timeline/columns.ts';
import type { TimelineIndex } from '../timeline/timeline-index.ts';
import type { ColorBy, TimeAxis } from '../timeline/types.ts';
import type { Coloring, ColorLabel } from './first-colorings.ts';
import { siteLabels } from './site-labels.ts';

export interface LegendEntry extends ColorLabel {
  /** Palette row; 'pending' if the free is requested, 'several' for more than one color. */
  readonly swatch: number | 'pending' | 'several';
  readonly bytes: number;
  readonly count: number;
}

export interface Legend {
  /** The figures are for the state after this event. */
  readonly event: EventIndex;
  /** Sum of all entries: active memory at the event. */
  readonly totalBytes: number;
  readonly entries: readonly LegendEntry[];
}

/** Maximum number of stacks to name; there may be thousands. */
const NAMED_STACKS = 8;

/** Classes that are empty at the event stay listed with 0, because a legend that jumps is hard to use. */
export function legendAt(
  context: DeviceModel,
  index: TimelineIndex,
  colorBy: ColorBy,
  coloring: Coloring,
  event: EventIndex,
): Legend {
  const sums = new Map<LegendEntry['swatch'], Sum>();
  const stacks = new Map<StackIndex, { swatch: number; sum: Sum }>();
  const { sizeBytes, freeRequested, stack } = context.replay.allocations;
  // Before the first event, only memory from before the trace is live.
  const nextId = event < 0 ? index.allocations.preexisting : index.nextId(event);
  for (const live of index.maxEnd.live(event, nextId)) {
    for (const id of live) {
      const bytes = sizeBytes[id];
      const classNumber = coloring.classOf[id];
      const site = context.stacks.siteOf(stack[id]);
      if (freeRequested[id] <= event) addBlock(sums, 'pending', bytes);
      else if (colorBy === 'stack' && site > EMPTY_STACK) {
        const known = stacks.get(site) ?? { swatch: classNumber, sum: newSum() };
        stacks.set(site, known);
        known.sum.bytes += bytes;
        known.sum.count++;
      } else addBlock(sums, classNumber, bytes);
    }
  }
  const byClass = coloring.classes.map(({ class: swatch, ...meaning }): LegendEntry => {
    return { ...meaning, swatch, ...(sums.get(swatch) ?? newSum()) };
  });
  const pending: LegendEntry = {
    label: 'pending free',
    about: 'Your program freed these blocks, but another stream may still use them.',
    term: searchTerm('state', 'pending'),
    swatch: 'pending',
    ...(sums.get('pending') ?? newSum()),
  };
  const isShown = ({ count }: LegendEntry) => colorBy !== 'stack' || count > 0;
  const sites = stackEntries(context, stacks);
  const others = [...byClass.filter(isShown), ...(pending.count > 0 ? [pending] : [])];
  const entries =
    colorBy === 'stack' ? [...sites, ...others].sort(largestFirst) : [...sites, ...others];
  return { event, totalBytes: entries.reduce((sum, { bytes }) => sum + bytes, 0), entries };
}

/** The event with the most active bytes in a window; -1 if the window is empty. */
export function peakInWindow(
  index: TimelineIndex,
  axis: TimeAxis,
  x0: number,
  x1: number,
): EventIndex {
  const ranges = columnRanges(index, { axis, x0, x1, width: 1 });
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
  stacks: ReadonlyMap<StackIndex, { readonly swatch: number; readonly sum: Sum }>,
): LegendEntry[] {
  const heaviest = [...stacks].sort(([, a], [, b]) => b.sum.bytes - a.sum.bytes);
  const isOwn = (at: number) =>
    heaviest.findIndex(([, { swatch }]) => swatch === heaviest[at][1].swatch) === at;
  // If sites share a class, the heaviest of them is named.
  const named = heaviest.slice(0, NAMED_STACKS).filter((_, at) => isOwn(at));
  const labels = siteLabels(
    context,
    named.map(([site]) => site),
  );
  const entries = named.map(([, { swatch, sum }], at): LegendEntry => {
    return { ...labels[at], swatch, ...sum };
  });
  const rest = heaviest.filter((one) => !named.includes(one));
  if (rest.length === 0) return entries;
  const other = newSum();
  for (const [, { sum }] of rest) {
    other.bytes += sum.bytes;
    other.count += sum.count;
  }
  const label = plural(rest.length, 'other call site');
  const about = 'Too light here for a color that no other has.';
  return [...entries, { label, about, term: undefined, swatch: 'several', ...other }];
}
