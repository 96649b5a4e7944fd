/** Allocated memory by call site: how much of each stands at the peak and at the end. */

import { NEVER } from '../../allocator/replay/types.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { type EventIndex, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { SiteKeys } from './site-keys.ts';
import type { SiteFigures } from './types.ts';

export interface SiteRow extends SiteFigures {
  readonly key: string;
  /** Key of its line. */
  readonly line: string;
  readonly stack: StackIndex;
  /** Its first allocation. */
  readonly first: number;
  /** {@link MemoryClass} of the largest of its allocations at the peak; -1 where none stands there. */
  readonly class: number;
}

/**
 * One row a key, the largest at the peak first. The bytes at the peak add up to the counter of allocated
 * bytes after `peak`, those at the end to the counter at the end.
 */
export function siteRows(context: DeviceModel, keys: SiteKeys, peak: EventIndex): SiteRow[] {
  const { preexisting } = context.replay.allocations;
  const byKey = new Map<string, SiteRow>();
  for (const row of siteSums(context, peak)) {
    const isFromBefore = row.first < preexisting;
    const key = keys.keyOf(row.stack, isFromBefore);
    const known = byKey.get(key);
    if (known !== undefined) byKey.set(key, { ...known, ...sumOf(known, row) });
    else byKey.set(key, { key, line: keys.lineKeyOf(row.stack, isFromBefore), ...row });
  }
  return [...byKey.values()].sort(
    (a, b) =>
      b.peakBytes - a.peakBytes ||
      b.endBytes - a.endBytes ||
      b.allocations - a.allocations ||
      a.first - b.first,
  );
}

/** What most of a site's memory at the peak is, as JSON has it; null where none stands there. */
export const classId = ({ class: own }: SiteRow): string | null =>
  own < 0 ? null : MEMORY_CLASSES[own].id;

/** Figures of several sites as one. */
export function sumOf(...sites: readonly SiteFigures[]): SiteFigures {
  const total = (value: (site: SiteFigures) => number) =>
    sites.reduce((sum, site) => sum + value(site), 0);
  return {
    allocations: total((site) => site.allocations),
    peakCount: total((site) => site.peakCount),
    peakBytes: total((site) => site.peakBytes),
    endBytes: total((site) => site.endBytes),
  };
}

const NOTHING: SiteFigures = { allocations: 0, peakCount: 0, peakBytes: 0, endBytes: 0 };

type SiteSum = { -readonly [K in keyof Omit<SiteRow, 'key' | 'line'>]: SiteRow[K] };

/** The sum of each call site, by its stack. */
function* siteSums(context: DeviceModel, peak: EventIndex): Generator<SiteSum> {
  const { replay, stacks, snapshot } = context;
  const { stack, start, freeRequested, sizeBytes, length } = replay.allocations;
  const { classOf } = classify(context);
  const sums: (SiteSum | undefined)[] = new Array(snapshot.stacks.length - NO_STACK);
  const largestBytes = new Float64Array(sums.length).fill(-1);
  for (let id = 0; id < length; id++) {
    const row = stacks.siteOf(stack[id]) - NO_STACK;
    sums[row] ??= { stack: row + NO_STACK, first: id, ...NOTHING, class: -1 };
    const sum = sums[row];
    sum.allocations++;
    if (start[id] <= peak && freeRequested[id] > peak) {
      sum.peakCount++;
      sum.peakBytes += sizeBytes[id];
      if (sizeBytes[id] > largestBytes[row]) {
        largestBytes[row] = sizeBytes[id];
        sum.class = classOf[id];
      }
    }
    if (freeRequested[id] === NEVER) sum.endBytes += sizeBytes[id];
  }
  for (const sum of sums) if (sum !== undefined) yield sum;
}
