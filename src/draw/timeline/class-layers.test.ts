import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveAt } from '../../allocator/replay/trace-events.ts';
import { runToEnd } from '../../base/task.ts';
import { classify, classTotalsAt } from '../../device/classes/classify.ts';
import { MEMORY_CLASS_ORDER } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { drawLayers } from './class-layers.ts';
import { LiveBytes, NO_LAYER } from './live-bytes.ts';
import { stackHits, TimelineIndex } from './timeline-index.ts';

const layersOf = ({ replay, trace }: DeviceModel, layerOf: Uint8Array, count: number) =>
  new LiveBytes(replay.allocations, layerOf, count, trace.events.length);

it('a layer is as high as its live blocks, after any event of any program', () => {
  fc.assert(
    fc.property(allocatorProgram([]), fc.array(fc.nat({ max: 3 })), (lines, picks) => {
      const [context] = contextsOf(snapshotFromText(lines.join('\n')).snapshot);
      const { allocations } = context.replay;
      // Three layers, and what is in none.
      const layerOf = new Uint8Array(allocations.length).map((_, id) => {
        const pick = picks[id % Math.max(1, picks.length)] ?? 0;
        return pick === 3 ? NO_LAYER : pick;
      });
      const layers = layersOf(context, layerOf, 3);
      const found = new Float64Array(3);
      for (let event = 0; event < context.trace.events.length; event++) {
        layers.at(event, found);
        const expected = [0, 0, 0];
        for (const id of liveAt(allocations, event)) {
          if (layerOf[id] !== NO_LAYER) expected[layerOf[id]] += allocations.sizeBytes[id];
        }
        expect([...found]).toEqual(expected);
      }
    }),
    { numRuns: 80 },
  );
});

describe('a training run in layers', () => {
  const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
  const { replay, trace } = context;
  const { classOf } = classify(context);
  const order: readonly number[] = MEMORY_CLASS_ORDER;
  const layerOf = classOf.map((of) => order.indexOf(of));
  const layers = layersOf(context, layerOf, order.length);
  const index = new TimelineIndex(replay, trace.events.length, trace.events.timeUs);
  const peak = replay.peaks.activeBytes;

  it('shows the sums of the classes at the peak, pixel by pixel', () => {
    const palette = {
      classes: Uint32Array.from(order, (of) => of + 1),
      background: 0,
      pending: 0,
      thin: 0,
    };
    const height = 4000;
    const viewport = {
      axis: 'event',
      x0: peak.event,
      x1: peak.event + 1,
      y0: 0,
      y1: peak.bytes,
      width: 1,
      height,
    } as const;
    const frame = runToEnd(
      drawLayers(index, {
        viewport,
        palette,
        lines: ['activeBytes'],
        layers,
        colorOf: order.map((_, layer) => layer),
      }),
    );
    expect(frame.lines.activeBytes?.[0]).toBe(peak.bytes);
    const totals = new Map(classTotalsAt(context, peak.event).map((one) => [one.class, one.bytes]));
    // From the top down, which is how pixels are written.
    const rows = MEMORY_CLASS_ORDER.map(
      (_, layer) => frame.pixels.filter((color) => color === palette.classes[layer]).length,
    );
    MEMORY_CLASS_ORDER.forEach((of, layer) => {
      const exact = ((totals.get(of) ?? 0) * height) / peak.bytes;
      expect(Math.abs(rows[layer] - exact)).toBeLessThanOrEqual(1);
    });
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(height);
  });

  it('finds a block of the drawn layer under each pixel', () => {
    const live = [...liveAt(replay.allocations, peak.event)];
    live.sort((a, b) => layerOf[a] - layerOf[b] || a - b);
    let bottom = 0;
    for (const id of live.slice(0, 400)) {
      const middle = bottom + replay.allocations.sizeBytes[id] / 2;
      const hits = stackHits(index, peak.event, middle - 0.25, middle + 0.25, layers);
      expect(hits).toMatchObject({ ids: [id], main: id, mainBottomBytes: bottom });
      bottom += replay.allocations.sizeBytes[id];
    }
  });
});
