/**
 * The timeline of a trace that is still being read: replayed and drawn as its events come. Once the file has been read,
 * what was replayed is taken over unless the end of the file contradicts it.
 */
import {
  completePartialReplay,
  type EventChunk,
  PartialReplay,
  type PartialTables,
} from '../../allocator/replay/partial-replay.ts';
import type { CounterName, Replay } from '../../allocator/replay/types.ts';
import { getOrMake } from '../../base/collections.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { StackColors, type StackSites } from '../coloring/first-colorings.ts';
import { type BlockExtremes, CounterBlocks } from './counter-blocks.ts';
import { TimelineIndex } from './timeline-index.ts';
import { drawFrame } from './timeline-painter.ts';
import type { Palette, TimelineFrame } from './types.ts';

/** A picture of all events so far. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
}

/** A trace that was replayed as it came, as plain data. */
export interface PartialTimelineTables extends PartialTables {
  readonly extremes: ReadonlyMap<CounterName, BlockExtremes>;
}

/** Counters whose extremes are tracked as events arrive: those that the timeline draws first. */
const COUNTERS = ['activeBytes', 'allocatedBytes', 'reservedBytes'] as const;

export class PartialTimeline {
  readonly #replay: PartialReplay;
  readonly #counters = new Map<CounterName, CounterBlocks>();
  readonly #colors = new StackColors();

  /** @param hasSegments whether the file lists segments of the device */
  constructor(hasSegments: boolean) {
    this.#replay = new PartialReplay(hasSegments);
  }

  /**
   * Takes a chunk, which must begin where the last one ended.
   * @param expected an estimate of the whole trace's events
   */
  feed(chunk: EventChunk, expected: number) {
    this.#replay.advance(chunk, expected);
    const { length, peaks, isExact } = this.#replay.soFar();
    for (const name of COUNTERS) {
      const create = () => new CounterBlocks(this.#replay, name, 0);
      getOrMake(this.#counters, name, create).extend(length);
    }
    /** `isExact`: as far as is known, no memory was allocated before the first event, see PartialResult. */
    return { events: length, peaks, isExact };
  }

  /** @param sites the keys by which stacks are colored, as far as they are known */
  draw({ width, height, palette }: PictureSize, sites: StackSites): TimelineFrame {
    const { allocations, length, peaks } = this.#replay.soFar();
    const fillCounter: Replay['fillCounter'] = (...range) => this.#replay.fillCounter(...range);
    const index = new TimelineIndex(
      { allocations, fillCounter },
      length,
      undefined,
      this.#counters,
    );
    const [x1, y1] = [Math.max(1, length), Math.max(1, peaks.activeBytes.bytes)];
    const viewport = { axis: 'event', x0: 0, x1, y0: 0, y1, width, height } as const;
    const classOf = this.#colors.classesOf(allocations, sites, palette.classes.length);
    return drawFrame(index, { viewport, palette, classOf, lines: [], selected: -1 });
  }

  /** Undefined if the whole file is needed. Can be called once; nothing is kept. */
  finish(): PartialTimelineTables | undefined {
    if (!this.#replay.soFar().isExact) return undefined;
    const counters = [...this.#counters];
    const extremes = new Map(counters.map(([name, blocks]) => [name, blocks.extremes]));
    return { ...this.#replay.finish(), extremes };
  }
}

/** The device's replay and the extremes of its counters. Undefined if the end of the file contradicts them. */
export function completePartialTimeline(
  tables: PartialTimelineTables,
  device: DeviceTrace,
  settings: Snapshot['settings'],
) {
  const replay = completePartialReplay(tables, device, settings);
  if (replay === undefined) return undefined;
  const counters = new Map<CounterName, CounterBlocks>();
  for (const [name, extremes] of tables.extremes) {
    counters.set(name, new CounterBlocks(replay, name, device.events.length, extremes));
  }
  return { replay, counters };
}
