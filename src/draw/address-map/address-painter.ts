/**
 * Draws frames of the address map: x as in the timeline, y the packed addresses (see address-layout.ts). A column shows
 * its event with the most active bytes, the same event as in the timeline; address-rows.ts says what its pixels mean. A
 * frame is a task that may pause between columns.
 */

import { runToEnd, type Task } from '../../base/task.ts';
import { writeColumns } from '../timeline/colors.ts';
import { ColumnCache, ColumnContentCache } from '../timeline/column-cache.ts';
import { columnRanges, highestStates } from '../timeline/columns.ts';
import { dimClasses, lastOnly } from '../timeline/timeline-renderer.ts';
import type { TimelineFrame, Viewport } from '../timeline/types.ts';
import type { AddressIndex } from './address-index.ts';
import { type AddressPalette, AddressRows, addressColorTable, BARE_CODE } from './address-rows.ts';
import { AddressSweep, type Change, Fingerprint } from './address-sweep.ts';
import { drawHighlights, type Highlight } from './highlights.ts';

export interface AddressScene {
  /** y in bytes of the packed order. */
  readonly viewport: Viewport;
  /** Class of each allocation, below palette.classes.length. */
  readonly classOf: Uint8Array;
  readonly palette: AddressPalette;
  /** Allocations that match the search; the others are dimmed, even after their free is requested. */
  readonly mask: Uint8Array | undefined;
  /** On top of each other. */
  readonly highlights: readonly Highlight[];
}

export type AddressFrame = Pick<TimelineFrame, 'viewport' | 'pixels' | 'states'>;

/** Draws frames of one device, reusing its buffers. */
export class AddressPainter {
  readonly #index: AddressIndex;
  readonly #blocks: AddressSweep;
  readonly #segments: AddressSweep;
  /** Of the blocks and segments of a column. */
  readonly #fingerprint = new Fingerprint();
  readonly #cache = new ColumnCache();
  readonly #contents = new ColumnContentCache();
  readonly #dimmed = lastOnly(dimClasses);

  constructor(index: AddressIndex) {
    this.#index = index;
    const { timeline, segments, segmentsMaxEnd, blockPlaces, segmentPlaces } = index;
    const both = this.#fingerprint;
    this.#blocks = new AddressSweep(timeline.allocations, blockPlaces, timeline.maxEnd, both);
    this.#segments = new AddressSweep(segments, segmentPlaces, segmentsMaxEnd, both);
  }

  /**
   * Draws a frame. Do not resume an unfinished earlier frame of this painter.
   * @param out pixels of an earlier frame, reused if the length fits
   */
  *begin(scene: AddressScene, out?: Uint32Array): Task<AddressFrame> {
    const { viewport, mask, highlights } = scene;
    const { width, height } = viewport;
    const dimmed = scene.palette.classes.length;
    const classOf = mask ? this.#dimmed(scene.classOf, mask, dimmed) : scene.classOf;
    const palette = mask === undefined ? scene.palette : withDim(scene.palette);
    const index = this.#index;
    const blocks = this.#blocks;
    const segments = this.#segments;
    const cache = this.#cache;
    const contents = this.#contents;
    const pixels = out?.length === width * height ? out : new Uint32Array(width * height);
    const rows = new AddressRows(index, viewport, palette.classes.length);
    const states = highestStates(index.timeline, columnRanges(index.timeline, viewport));
    const slots = cache.begin({ viewport, classOf }, states);
    const { codes } = cache;
    contents.begin(cache);
    /** States to paint, each once, in the order of the columns. */
    const due = states.filter(
      (state, column) => state >= 0 && slots[column] < 0 && state !== states[column - 1],
    );
    blocks.reset({ kindOf: classOf, pending: palette.classes.length, dimmed }, due);
    // No segment is ever pending.
    segments.reset({ kindOf: index.segments.isExpandable, pending: 0 }, due);
    const changeBlock: Change = (place, kind, sign) => rows.addBlock(place, kind, sign);
    const changeSegment: Change = (place, kind, sign) => rows.addSegment(place, kind, sign);
    /** How many of the states to paint are painted, and the slot whose codes the rows hold. */
    let swept = 0;
    let rowsSlot = -1;
    yield* cache.paintColumns(slots, states, (slot, state) => {
      const base = slot * height;
      if (state < 0) {
        codes.fill(BARE_CODE, base, base + height);
        return;
      }
      segments.advance(swept);
      blocks.advance(swept++);
      const content = this.#fingerprint.value;
      const same = contents.find(content);
      if (same < 0 && rowsSlot < 0) codes.fill(BARE_CODE, base, base + height);
      const from = same < 0 ? rowsSlot : same;
      if (from >= 0) codes.copyWithin(base, from * height, (from + 1) * height);
      if (same < 0) {
        segments.report(changeSegment);
        blocks.report(changeBlock);
        rows.write(codes, base);
        rowsSlot = slot;
      }
      contents.set(slot, content);
    });
    writeColumns(codes, slots, viewport, addressColorTable(palette), pixels);
    drawHighlights(highlights, states, viewport, palette, pixels);
    return { viewport, pixels, states };
  }

  draw(scene: AddressScene): AddressFrame {
    return runToEnd(this.begin(scene));
  }
}

/** With one more class, for what is dimmed. */
const withDim = (palette: AddressPalette): AddressPalette => ({
  ...palette,
  classes: Uint32Array.of(...palette.classes, palette.dim),
});
