/**
 * record_function ranges and the like, from points in time to ranges of events.
 *
 * The file has no thread id: START and END are paired per (device, name) as a stack, the last START
 * first. Ranges of several threads may overlap without nesting, so depth is the lowest free lane,
 * which for nested ranges is the nesting level:
 *
 *     lane 0  |---- step 0 ----|    |---- step 1 --
 *     lane 1    |fwd|  |bwd|          |fwd|
 */
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import type {
  AnnotationTable,
  DeviceTrace,
  Snapshot,
  StringIndex,
} from '../../format/snapshot/tables.ts';
import { durationUs } from './events.ts';
import type { AnnotationSpan } from './types.ts';

/** What annotations are read from. */
export interface AnnotationSource {
  readonly snapshot: Pick<Snapshot, 'annotations' | 'strings'> & {
    readonly devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[];
  };
  readonly trace: Pick<DeviceTrace, 'device' | 'kind' | 'events'>;
}

/**
 * Ranges under way when the recording began or ended: a stack of annotations is hardly deeper. What
 * else lacks its START or END lost it some other way, and where it began or ended nobody knows.
 */
const MAX_UNDER_WAY = 8;

/** Times on the recorder's clock; NaN where START or END was not in the file. */
interface Range {
  readonly name: StringIndex;
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * Ranges that concern a device, by start, outer before inner. Empty when its events carry no times,
 * for then nothing says where a range lies. `endEvent` is one past the last event inside, so a
 * range without events has startEvent = endEvent. Where START or END is missing, the eight nearest to
 * the edge of the trace reach to it; the others are the one moment that is known of them.
 */
export function annotationSpans({ snapshot, trace }: AnnotationSource): AnnotationSpan[] {
  const { timeUs } = trace.events;
  if (timeUs === undefined || timeUs.length === 0) return [];
  const originUs = timeUs[0];
  const lastUs = originUs + durationUs(trace.events);
  const isOwn = ownDevices(snapshot, trace.kind === 'host' ? undefined : trace.device);
  const ranges = pairRanges(snapshot.annotations, isOwn);
  const bounded = boundRanges(ranges, originUs, lastUs).map((range) => ({
    ...range,
    name: snapshot.strings.get(range.name),
  }));
  bounded.sort((a, b) => a.startUs - b.startUs || b.endUs - a.endUs);
  const lanes = new Lanes();
  return bounded.map(({ name, complete, startUs, endUs }) => ({
    name,
    depth: lanes.place(startUs, endUs),
    startUs: startUs - originUs,
    endUs: endUs - originUs,
    startEvent: lowerBound(timeUs, startUs),
    endEvent: upperBound(timeUs, endUs),
    complete,
  }));
}

/** Gives each range both its ends, see {@link annotationSpans}. */
function boundRanges(ranges: readonly Range[], originUs: number, lastUs: number) {
  const known = ({ startUs, endUs }: Range) => (Number.isNaN(startUs) ? endUs : startUs);
  const open = ranges.filter(({ endUs }) => Number.isNaN(endUs));
  const unstarted = ranges.filter(({ startUs }) => Number.isNaN(startUs));
  const underWay = new Set([
    ...open.sort((a, b) => known(b) - known(a)).slice(0, MAX_UNDER_WAY),
    ...unstarted.sort((a, b) => known(a) - known(b)).slice(0, MAX_UNDER_WAY),
  ]);
  return ranges.map((range) => {
    const moment = known(range);
    const reaches = underWay.has(range);
    const from = reaches ? Math.min(originUs, moment) : moment;
    const to = reaches ? Math.max(lastUs, moment) : moment;
    return {
      name: range.name,
      complete: !Number.isNaN(range.startUs) && !Number.isNaN(range.endUs),
      startUs: Number.isNaN(range.startUs) ? from : range.startUs,
      endUs: Number.isNaN(range.endUs) ? to : range.endUs,
    };
  });
}

/** How many STARTs and ENDs found no partner, over all devices. */
export function unpairedAnnotations(annotations: AnnotationTable): number {
  const ranges = pairRanges(annotations, () => true);
  return ranges.filter(({ startUs, endUs }) => Number.isNaN(startUs) || Number.isNaN(endUs)).length;
}

/** A range of device -1, or of one that is not in the file, concerns all; pinned memory concerns all ranges. */
function ownDevices(
  snapshot: AnnotationSource['snapshot'],
  own: number | undefined,
): (device: number) => boolean {
  if (own === undefined) return () => true;
  const known = new Set(
    snapshot.devices.filter(({ kind }) => kind === 'cuda').map((d) => d.device),
  );
  return (device) => device === own || !known.has(device);
}

function pairRanges(table: AnnotationTable, isOwn: (device: number) => boolean): Range[] {
  /** Rows of STARTs without END so far, by device and name. */
  const open = new Map<string, number[]>();
  const ranges: Range[] = [];
  for (let row = 0; row < table.length; row++) {
    const device = table.device[row];
    const time = table.timeUs[row];
    if (Number.isNaN(time) || !isOwn(device)) continue;
    const key = `${device} ${table.name[row]}`;
    const starts = open.get(key) ?? [];
    open.set(key, starts);
    if (table.isStart[row] === 1) {
      starts.push(row);
      continue;
    }
    const start = starts.pop();
    const startUs = start === undefined ? Number.NaN : table.timeUs[start];
    ranges.push({ name: table.name[row], startUs, endUs: time });
  }
  for (const row of [...open.values()].flat()) {
    ranges.push({ name: table.name[row], startUs: table.timeUs[row], endUs: Number.NaN });
  }
  return ranges;
}

/**
 * Gives ranges, coming by start, the lowest lane that no earlier one still takes. A tree of minima
 * finds it: of 100,000 ranges around each other each would else look at all lanes before it.
 */
class Lanes {
  #capacity = 1;
  /** Leaf #capacity + k: where the last range of lane k ends. Node n: the least of 2n and 2n + 1. */
  #endUs = new Float64Array([0, -Infinity]);

  place(startUs: number, endUs: number): number {
    if (this.#endUs[1] > startUs) this.#enlarge();
    let node = 1;
    while (node < this.#capacity) node = 2 * node + Number(this.#endUs[2 * node] > startUs);
    const lane = node - this.#capacity;
    this.#set(node, endUs);
    return lane;
  }

  #enlarge(): void {
    const ends = this.#endUs.subarray(this.#capacity);
    this.#capacity *= 2;
    this.#endUs = new Float64Array(2 * this.#capacity).fill(-Infinity);
    for (const [lane, end] of ends.entries()) this.#set(this.#capacity + lane, end);
  }

  #set(leaf: number, endUs: number): void {
    this.#endUs[leaf] = endUs;
    for (let node = leaf; node > 1; node >>= 1) {
      this.#endUs[node >> 1] = Math.min(this.#endUs[node], this.#endUs[node ^ 1]);
    }
  }
}
