/** The timeline ordered by class, of all allocations or of those that a search finds. */
import { classify } from '../device/classes/classify.ts';
import { classLabels } from '../device/classes/types.ts';
import type { StackRange } from '../device/model/allocation-details.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import {
  BandJob,
  type BandScene,
  bandHits,
  ClassBands,
  NO_BAND,
} from '../draw/timeline/class-bands.ts';
import { withDimmedClass } from '../draw/timeline/colors.ts';
import type { ColumnJob } from '../draw/timeline/column-job.ts';
import type { TimelineIndex } from '../draw/timeline/timeline-index.ts';
import type { TimelineFrame } from '../draw/timeline/types.ts';
import type { EventIndex } from '../format/snapshot/tables.ts';

/** What matches a search; without one everything does. */
export interface Matching {
  readonly mask: Uint8Array | undefined;
  /** What does not match is left out; else it is dimmed. */
  readonly onlyMatches: boolean;
}

/** Stands for the color of what a search does not match. */
const DIMMED = -1;

export class BandRenderer {
  readonly #context: DeviceModel;
  #last: (Matching & { readonly bands: ClassBands }) | undefined;

  constructor(context: DeviceModel) {
    this.#context = context;
  }

  /** @param index of what is stacked */
  begin(
    index: TimelineIndex,
    matching: Matching,
    { viewport, palette, lines }: Pick<BandScene, 'viewport' | 'palette' | 'lines'>,
    out: Uint32Array | undefined,
  ): ColumnJob<TimelineFrame> {
    const dimmed = palette.classes.length;
    const colorOf = COLOR_OF.map((color) => (color === DIMMED ? dimmed : color));
    const bands = this.#bands(matching);
    const scene = { viewport, lines, bands, colorOf, palette: withDimmedClass(palette) };
    return new BandJob(index, scene, out);
  }

  /** @param index of all allocations */
  hits(
    index: TimelineIndex,
    matching: Matching,
    state: EventIndex,
    bytesFrom: number,
    bytesTo: number,
  ): StackRange {
    return bandHits(index, this.#bands(matching), state, bytesFrom, bytesTo);
  }

  #bands({ mask, onlyMatches }: Matching): ClassBands {
    const last = this.#last;
    if (last?.mask === mask && last?.onlyMatches === onlyMatches) return last.bands;
    const { replay, trace } = this.#context;
    const bandOf = classify(this.#context).classOf.map((of, id) => {
      const lower = LOWER_BAND[of] ?? NO_BAND;
      if (mask === undefined || mask[id] === 1) return lower;
      return onlyMatches ? NO_BAND : lower + 1;
    });
    const { length } = trace.events;
    const bands = new ClassBands(replay.allocations, bandOf, COLOR_OF.length, length);
    this.#last = { mask, onlyMatches, bands };
    return bands;
  }
}

/** A class has two bands, one on the other: what matches, and the rest. By MemoryClass: the lower one. */
const LOWER_BAND = new Uint8Array(classLabels().length);
classLabels().forEach((label, place) => {
  LOWER_BAND[label.class] = 2 * place;
});

/** Row of the palette of each band. */
const COLOR_OF: readonly number[] = classLabels().flatMap((label) => [label.class, DIMMED]);
