import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { liveAt } from '../../allocator/replay/trace-events.ts';
import { classify, classTotalsAt } from '../../device/classes/classify.ts';
import { MEMORY_CLASS_ORDER } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { BandJob, bandHits, ClassBands, NO_BAND } from './class-bands.ts';
import { TimelineIndex } from './timeline-index.ts';

const bandsOf = ({ replay, trace }: DeviceModel, bandOf: Uint8Array, count: number) =>
  new ClassBands(replay.allocations, bandOf, count, trace.events.length);

it('a band is as high as its live blocks, after any event of any program', () => {
  fc.assert(
    fc.property(allocatorProgram([]), fc.array(fc.nat({ max: 3 })), (lines, picks) => {
      const [context] = contextsOf(snapshotFromText(lines.join('\n')).snapshot);
      const { allocations } = context.replay;
      // Three bands, and what is in none.
      const bandOf = new Uint8Array(allocations.length).map((_, id) => {
        const pick = picks[id % Math.max(1, picks.length)] ?? 0;
        return pick === 3 ? NO_BAND : pick;
      });
      const bands = bandsOf(context, bandOf, 3);
      const found = new Float64Array(3);
      for (let event = 0; event < context.trace.events.length; event++) {
        bands.at(event, found);
        const expected = [0, 0, 0];
        for (const id of liveAt(allocations, event)) {
          if (bandOf[id] !== NO_BAND) expected[bandOf[id]] += allocations.sizeBytes[id];
        }
        expect([...found]).toEqual(expected);
      }
    }),
    { numRuns: 80 },
  );
});

describe('a training run in bands', () => {
  const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
  const { replay, trace } = context;
  const { classOf } = classify(context);
  const order: readonly number[] = MEMORY_CLASS_ORDER;
  const bandOf = classOf.map((of) => order.indexOf(of));
  const bands = bandsOf(context, bandOf, order.length);
  const index = new TimelineIndex(replay, trace.events.length, trace.events.timeUs);
  const peak = replay.peaks.activeBytes;

  it('shows at the peak what the classes add up to, pixel by pixel', () => {
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
    const frame = new BandJob(index, {
      viewport,
      palette,
      lines: ['activeBytes'],
      bands,
      colorOf: order.map((_, band) => band),
    }).runToEnd();
    expect(frame.lines.activeBytes?.[0]).toBe(peak.bytes);
    const totals = new Map(classTotalsAt(context, peak.event).map((one) => [one.class, one.bytes]));
    // From the top down, which is how pixels are written.
    const rows = MEMORY_CLASS_ORDER.map(
      (_, band) => frame.pixels.filter((color) => color === palette.classes[band]).length,
    );
    MEMORY_CLASS_ORDER.forEach((of, band) => {
      const exact = ((totals.get(of) ?? 0) * height) / peak.bytes;
      expect(Math.abs(rows[band] - exact)).toBeLessThanOrEqual(1);
    });
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(height);
  });

  it('under a pixel lies a block of the band that is drawn there', () => {
    const live = [...liveAt(replay.allocations, peak.event)];
    live.sort((a, b) => bandOf[a] - bandOf[b] || a - b);
    let bottom = 0;
    for (const id of live.slice(0, 400)) {
      const middle = bottom + replay.allocations.sizeBytes[id] / 2;
      const hits = bandHits(index, bands, peak.event, middle - 0.25, middle + 0.25);
      expect(hits).toMatchObject({ ids: [id], main: id, mainBottomBytes: bottom });
      bottom += replay.allocations.sizeBytes[id];
    }
  });
});
