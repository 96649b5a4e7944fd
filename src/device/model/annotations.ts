/**
 * Turns record_function ranges and similar annotations from times into ranges of events.
 *
 * The file has no thread id, so START and END are paired per (device, name), the last START first. Ranges of several
 * threads may overlap without nesting, so depth is the lowest free track, which for nested ranges is the nesting level:
 *
 *     track 0  |---- step 0 ----|    |---- step 1 --
 *     track 1    |fwd|  |bwd|          |fwd|
 */
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { addTo, getOrMake } from '../../base/collections.ts';
import { createTable, rowsByKey, type TableOf, type TableSchema } from '../../base/table.ts';
import type {
  AnnotationTable,
  DeviceTrace,
  Snapshot,
  StringIndex,
} from '../../format/snapshot/tables.ts';
import { durationUs } from './events.ts';
import type { AnnotationSpan } from './types.ts';

export interface AnnotationSource {
  readonly snapshot: Pick<Snapshot, 'annotations' | 'strings'> & {
    readonly devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[];
  };
  readonly trace: Pick<DeviceTrace, 'device' | 'kind' | 'events'>;
}

/**
 * Maximum number of ranges open at the start or end of the recording: annotations rarely nest deeper. Other ranges
 * without START or END lost it some other way, so their missing end is unknown.
 */
const MAX_UNDER_WAY = 8;

/** Times on the recorder's clock; NaN if START or END is not in the file. */
interface Range {
  readonly name: StringIndex;
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * A device's ranges by start, outer before inner. Empty if its events have no times, because then the ranges cannot be
 * placed. `endEvent` is one past the last event inside, so an empty range has startEvent = endEvent. If START or END is
 * missing, the eight ranges nearest to the trace's edge extend to it; the others collapse to their one known moment.
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

/** Gives each range both ends, see {@link annotationSpans}. */
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

/** Number of STARTs and ENDs without a partner, over all devices. */
export function unpairedAnnotations(annotations: AnnotationTable): number {
  const ranges = pairRanges(annotations, () => true);
  return ranges.filter(({ startUs, endUs }) => Number.isNaN(startUs) || Number.isNaN(endUs)).length;
}

/** A range of device -1, or of one not in the file, applies to all devices; all ranges apply to pinned memory. */
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
  /** Rows of open STARTs, by device and name. */
  const open = new Map<string, number[]>();
  const ranges: Range[] = [];
  for (let row = 0; row < table.length; row++) {
    const device = table.device[row];
    const time = table.timeUs[row];
    if (Number.isNaN(time) || !isOwn(device)) continue;
    const key = `${device} ${table.name[row]}`;
    if (table.isStart[row] === 1) {
      addTo(open, key, row);
      continue;
    }
    const start = open.get(key)?.pop();
    const startUs = start === undefined ? Number.NaN : table.timeUs[start];
    ranges.push({ name: table.name[row], startUs, endUs: time });
  }
  for (const row of [...open.values()].flat()) {
    ranges.push({ name: table.name[row], startUs: table.timeUs[row], endUs: Number.NaN });
  }
  return ranges;
}

/**
 * Gives each range the lowest free track; ranges come by start. A tree of minima finds it: a scan over the tracks would
 * be quadratic for 100,000 ranges nested in each other.
 */
class Tracks {
  #capacity = 1;
  /** Leaf #capacity + k: where the last range of track k ends. Node n: the minimum of 2n and 2n + 1. */
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
 * Annotation ranges track by track, as columns: a program that annotates each module has hundreds of thousands, and as
 * objects they would freeze the page for seconds on arrival.
 *
 *     track 0  |---- step 0 ----|    |---- step 1 --     rows 0 and 1     first = [0, 2, 4]
 *     track 1    |fwd|  |bwd|                            rows 2 and 3
 */

const TRACK_COLUMNS = {
  /** Index into `names`. */
  name: { type: 'i32' },
  startUs: { type: 'f64' },
  endUs: { type: 'f64' },
  startEvent: { type: 'i32' },
  endEvent: { type: 'i32' },
  isComplete: { type: 'u8' },
} as const satisfies TableSchema;

export interface AnnotationTracks extends TableOf<typeof TRACK_COLUMNS> {
  /** Rows of track k are first[k] <= row < first[k + 1], in order of time. */
  readonly first: Int32Array;
  readonly names: readonly string[];
}

/** @param spans by start, as from `annotationSpans` */
export function annotationTracks(spans: readonly AnnotationSpan[]): AnnotationTracks {
  const levels = spans.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const { first, rows } = rowsByKey(
    spans.map(({ depth }) => depth),
    levels,
  );
  const names = new Map<string, number>();
  const tracks = createTable(TRACK_COLUMNS, spans.length);
  for (const [row, index] of rows.entries()) {
    const span = spans[index];
    tracks.name[row] = getOrMake(names, span.name, () => names.size);
    tracks.startUs[row] = span.startUs;
    tracks.endUs[row] = span.endUs;
    tracks.startEvent[row] = span.startEvent;
    tracks.endEvent[row] = span.endEvent;
    tracks.isComplete[row] = Number(span.complete);
  }
  return { ...tracks, first, names: [...names.keys()] };
}

/** The range in a row, as an object. */
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
