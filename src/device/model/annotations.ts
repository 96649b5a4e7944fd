/**
 * record_function ranges and the like, from points in time to ranges of events.
 *
 * The file has no thread id: START and END are paired per (device, name) as a stack, the last START
 * first. Ranges of several threads may overlap without nesting, so depth is the lowest free track,
 * which for nested ranges is the nesting level:
 *
 *     track 0  |---- step 0 ----|    |---- step 1 --
 *     track 1    |fwd|  |bwd|          |fwd|
 */
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { getOrMake } from '../../base/memoized.ts';
import { createTable, type TableOf, type TableSchema } from '../../base/table.ts';
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
  const tracks = new Tracks();
  return bounded.map(({ name, complete, startUs, endUs }) => ({
    name,
    depth: tracks.place(startUs, endUs),
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
 * Gives ranges, coming by start, the lowest track that no earlier one still takes. A tree of minima
 * finds it: of 100,000 ranges around each other each would else look at all tracks before it.
 */
class Tracks {
  #capacity = 1;
  /** Leaf #capacity + k: where the last range of track k ends. Node n: the least of 2n and 2n + 1. */
  #endUs = new Float64Array([0, -Infinity]);

  place(startUs: number, endUs: number): number {
    if (this.#endUs[1] > startUs) this.#enlarge();
    let node = 1;
    while (node < this.#capacity) node = 2 * node + Number(this.#endUs[2 * node] > startUs);
    const track = node - this.#capacity;
    this.#set(node, endUs);
    return track;
  }

  #enlarge(): void {
    const ends = this.#endUs.subarray(this.#capacity);
    this.#capacity *= 2;
    this.#endUs = new Float64Array(2 * this.#capacity).fill(-Infinity);
    for (const [track, end] of ends.entries()) this.#set(this.#capacity + track, end);
  }

  #set(leaf: number, endUs: number): void {
    this.#endUs[leaf] = endUs;
    for (let node = leaf; node > 1; node >>= 1) {
      this.#endUs[node >> 1] = Math.min(this.#endUs[node], this.#endUs[node ^ 1]);
    }
  }
}

/**
 * Annotation ranges track by track, as columns: a program that annotates each module has hundreds of
 * thousands, and as many objects would stop the page for seconds when they arrive.
 *
 *     track 0  |---- step 0 ----|    |---- step 1 --     rows 0 and 1     first = [0, 2, 4]
 *     track 1    |fwd|  |bwd|                            rows 2 and 3
 */

const TRACK_COLUMNS = {
  /** A place in `names`. */
  name: { type: 'i32' },
  startUs: { type: 'f64' },
  endUs: { type: 'f64' },
  startEvent: { type: 'i32' },
  endEvent: { type: 'i32' },
  isComplete: { type: 'u8' },
} as const satisfies TableSchema;

export interface AnnotationTracks extends TableOf<typeof TRACK_COLUMNS> {
  /** Rows of track k are first[k] <= row < first[k + 1]; those of a track follow each other in time. */
  readonly first: Int32Array;
  /** Each name once. */
  readonly names: readonly string[];
}

/** @param spans by start, as `annotationSpans` gives them */
export function annotationTracks(spans: readonly AnnotationSpan[]): AnnotationTracks {
  const first = firstRows(spans);
  const next = first.slice();
  const names = new Map<string, number>();
  const tracks = createTable(TRACK_COLUMNS, spans.length);
  for (const span of spans) {
    const row = next[span.depth]++;
    tracks.name[row] = getOrMake(names, span.name, () => names.size);
    tracks.startUs[row] = span.startUs;
    tracks.endUs[row] = span.endUs;
    tracks.startEvent[row] = span.startEvent;
    tracks.endEvent[row] = span.endEvent;
    tracks.isComplete[row] = Number(span.complete);
  }
  return { ...tracks, first, names: [...names.keys()] };
}

function firstRows(spans: readonly AnnotationSpan[]): Int32Array {
  const levels = spans.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const first = new Int32Array(levels + 1);
  for (const { depth } of spans) first[depth + 1]++;
  for (let track = 0; track < levels; track++) first[track + 1] += first[track];
  return first;
}

/** One range as it was. */
export function spanOfRow(tracks: AnnotationTracks, row: number): AnnotationSpan {
  return {
    name: tracks.names[tracks.name[row]],
    depth: upperBound(tracks.first, row) - 1,
    startUs: tracks.startUs[row],
    endUs: tracks.endUs[row],
    startEvent: tracks.startEvent[row],
    endEvent: tracks.endEvent[row],
    complete: tracks.isComplete[row] === 1,
  };
}
