/** Draws a device's timeline: all allocations, with those that don't match a search dimmed, or only the matches. */

import type { CounterName } from '../allocator/replay/types.ts';
import type { Task } from '../base/task.ts';
import type { StackRange } from '../device/model/allocation-details.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import type { SearchMatches } from '../device/search/types.ts';
import { firstColoring } from '../draw/coloring/first-colorings.ts';
import {
  dimClasses,
  highlightClasses,
  lastOnly,
  withDimmedClass,
} from '../draw/timeline/emphasis.ts';
import {
  type MatchingTimeline,
  matchingRow,
  matchingTimeline,
} from '../draw/timeline/matching-timeline.ts';
import { stackHits, type TimelineIndex } from '../draw/timeline/timeline-index.ts';
import { type Scene, TimelinePainter } from '../draw/timeline/timeline-painter.ts';
import type { ColorBy, Palette, TimelineFrame, Viewport } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';
import type { LayerRenderer } from './layer-renderer.ts';
import { loadAnswers } from './load-answers.ts';
import type { OpenDevice } from './open-device.ts';

/** The matches of one search as a timeline of their own. */
interface Matches {
  readonly mask: Uint8Array;
  readonly timeline: MatchingTimeline;
  readonly painter: TimelinePainter;
  /** The matches' classes (`own`), derived from those of all allocations. */
  classes: { readonly all: Uint8Array; readonly own: Uint8Array } | undefined;
}

/** Enough for the compiler to see every branch, and only 10 ms of work on 5.7 M events. */
const WARM_UP = {
  ...{ width: 96, height: 64, rounds: 4, share: 0.05 },
  palette: { classes: new Uint32Array(16), background: 0, pending: 0, thin: 0 },
  lines: ['allocatedBytes', 'activeBytes', 'reservedBytes'] satisfies CounterName[],
};

/** The used part of an OpenDevice. */
interface Drawn {
  readonly context: DeviceModel;
  readonly index: TimelineIndex;
  matches(search: string, at: EventIndex | undefined): Promise<Pick<SearchMatches, 'mask'>>;
  classesBy(colorBy: ColorBy, count: number): Promise<Uint8Array>;
  drawFrame: OpenDevice['drawFrame'];
}

export class TimelineRenderer {
  readonly #device: Drawn;
  readonly #painter: TimelinePainter;
  readonly #dimmed = lastOnly(dimClasses);
  readonly #highlighted = lastOnly(highlightClasses);
  #layers: LayerRenderer | undefined;
  /** Only for the last search: up to 32 MB for 1.9 M allocations. */
  #matches: Matches | undefined;

  constructor(device: Drawn) {
    this.#device = device;
    this.#painter = new TimelinePainter(device.index);
  }

  /** Draws small frames, so that the first real one meets compiled code: cold, it takes 3 to 7 times as long. */
  warmUp(): void {
    const { context } = this.#device;
    const events = context.trace.events.length;
    const peakBytes = context.replay.peaks.activeBytes.bytes;
    if (events === 0 || peakBytes === 0) return;
    const { width, height, rounds, share } = WARM_UP;
    const { classOf } = firstColoring(context, 'size', WARM_UP.palette.classes.length);
    const span = Math.max(1, events * share);
    for (let round = 0; round < rounds; round++) {
      const x0 = ((events - span) * round) / rounds;
      const x = { axis: 'event', x0, x1: x0 + span } as const;
      const viewport: Viewport = { ...x, y0: 0, y1: peakBytes, width, height };
      const { palette, lines } = WARM_UP;
      this.#painter.draw({ viewport, classOf, palette, lines, selected: -1 });
    }
  }

  /** Draws a whole frame; the session's newest one wins. */
  frame(request: FrameRequest, signal?: AbortSignal): Promise<TimelineFrame> {
    const begin = (out: Uint32Array | undefined) => this.#begin(request, out);
    return this.#device.drawFrame(request.viewport, begin, signal);
  }

  /** Starts a frame. An earlier unfinished frame must not continue. */
  async #begin(request: FrameRequest, out: Uint32Array | undefined): Promise<Task<TimelineFrame>> {
    const mask = await this.#maskOf(request);
    if (request.stackOrder === 'class') return this.#beginLayers(request, mask, out);
    const { viewport, palette, lines, selected, colorBy } = request;
    const classes = palette.classes.length;
    const classOf = await this.#device.classesBy(colorBy, classes);
    const scene: Scene = { viewport, classOf, palette, lines, selected };
    if (mask === undefined) {
      return this.#painter.begin(await this.#withHighlight(scene, request), out);
    }
    if (!request.onlyMatches) {
      const dimmed = this.#dimmed(classOf, mask, classes);
      const all = { classOf: dimmed, dimmedClass: classes, palette: withDimmedClass(palette) };
      return this.#painter.begin({ ...scene, ...all }, out);
    }
    const { painter, timeline } = this.#only(mask);
    const matches = {
      classOf: this.#classesOfMatches(classOf, mask),
      selected: matchingRow(timeline, selected),
      // The other counters cover all allocations.
      lines: lines.filter((line) => line === 'activeBytes'),
    };
    return painter.begin({ ...scene, ...matches }, out);
  }

  /** Keeps the color of what is highlighted and fades the rest. */
  async #withHighlight(scene: Scene, { highlight = '' }: FrameRequest): Promise<Scene> {
    if (highlight === '') return scene;
    const { mask } = await this.#device.matches(highlight, undefined);
    return mask === undefined
      ? scene
      : { ...scene, ...this.#highlighted(scene.classOf, scene.palette, mask) };
  }

  async #beginLayers(
    request: FrameRequest,
    mask: Uint8Array | undefined,
    out: Uint32Array | undefined,
  ): Promise<Task<TimelineFrame>> {
    const { onlyMatches } = request;
    const layers = await this.#layerRenderer();
    if (mask === undefined || !onlyMatches) {
      return layers.begin(this.#device.index, { mask, onlyMatches }, request, out);
    }
    const { index } = this.#only(mask).timeline;
    const lines = request.lines.filter((line) => line === 'activeBytes');
    return layers.begin(index, { mask, onlyMatches }, { ...request, lines }, out);
  }

  async #layerRenderer(): Promise<LayerRenderer> {
    const answers = await loadAnswers();
    this.#layers ??= new answers.LayerRenderer(this.#device.context);
    return this.#layers;
  }

  /** What lies in a byte range of the drawn stack. */
  async hits(
    request: MatchingRequest,
    state: EventIndex,
    bytesFrom: number,
    bytesTo: number,
  ): Promise<StackRange> {
    const { onlyMatches } = request;
    const { index: all } = this.#device;
    const mask = await this.#maskOf(request);
    if (request.stackOrder === 'class') {
      const layers = await this.#layerRenderer();
      return layers.hits(all, { mask, onlyMatches }, state, bytesFrom, bytesTo);
    }
    if (mask === undefined || !onlyMatches) return stackHits(all, state, bytesFrom, bytesTo);
    const { index, ids } = this.#only(mask).timeline;
    const hits = stackHits(index, state, bytesFrom, bytesTo);
    const main = hits.main < 0 ? -1 : (ids[hits.main] ?? -1);
    return { ...hits, ids: hits.ids.map((row) => ids[row] ?? -1), main };
  }

  /** Height of the drawn stack after an event. */
  async bytesAt(request: MatchingRequest, state: EventIndex): Promise<number> {
    const mask = request.onlyMatches ? await this.#maskOf(request) : undefined;
    const index: TimelineIndex =
      mask === undefined ? this.#device.index : this.#only(mask).timeline.index;
    return index.counter('activeBytes').highest(state, state);
  }

  async #maskOf({ search, at }: MatchingRequest): Promise<Uint8Array | undefined> {
    return search === '' ? undefined : (await this.#device.matches(search, at)).mask;
  }

  #only(mask: Uint8Array): Matches {
    if (this.#matches?.mask === mask) return this.#matches;
    const { replay, trace } = this.#device.context;
    const { length, timeUs } = trace.events;
    const timeline = matchingTimeline(replay.allocations, mask, length, timeUs);
    const painter = new TimelinePainter(timeline.index);
    this.#matches = { mask, timeline, painter, classes: undefined };
    return this.#matches;
  }

  /** Returns the same array while both inputs are the same: a panned frame reuses its columns by identity. */
  #classesOfMatches(all: Uint8Array, mask: Uint8Array): Uint8Array {
    const matches = this.#only(mask);
    if (matches.classes?.all !== all) {
      const { ids } = matches.timeline;
      const own = new Uint8Array(ids.length);
      for (let row = 0; row < own.length; row++) own[row] = all[ids[row] ?? 0] ?? 0;
      matches.classes = { all, own };
    }
    return matches.classes.own;
  }
}

/** Selects allocations. */
export interface MatchingRequest {
  /** The view's search; an empty or invalid one means all. */
  readonly search: string;
  /** Stacks only the matches; otherwise the others are dimmed in place. */
  readonly onlyMatches: boolean;
  /** The cursor, at which states and ages are evaluated; undefined means the end. */
  readonly at: EventIndex | undefined;
  /** By time of allocation, or by class with one layer each. */
  readonly stackOrder?: 'time' | 'class' | undefined;
}

export const ALL_ALLOCATIONS: MatchingRequest = { search: '', onlyMatches: false, at: undefined };

export interface FrameRequest extends MatchingRequest {
  /** Position in SessionInfo.devices. */
  readonly deviceIndex: number;
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to highlight, -1 for none. */
  readonly selected: number;
  /** A search whose blocks stand out if there is no other search. Ignored if the stack is ordered by class. */
  readonly highlight?: string | undefined;
}
