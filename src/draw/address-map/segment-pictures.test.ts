import { describe, expect, test } from 'vitest';
import { NEVER } from '../../allocator/replay/types.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { stackHits } from '../timeline/timeline-index.ts';
import { drawFrame } from '../timeline/timeline-painter.ts';
import { segmentFacts } from './segment-lives.ts';
import { SEGMENT_CLASSES, SegmentTimeline } from './segment-timeline.ts';

function segmentsOf(snapshot: Parameters<typeof contextsOf>[0]) {
  const [context] = contextsOf(snapshot);
  const { trace, replay } = context;
  const { lives, index, classOf } = new SegmentTimeline(context);
  const classes = Array.from(classOf, (of) => SEGMENT_CLASSES[of]);
  return { context, replay, lives, index, classes, eventCount: trace.events.length };
}

describe('segments over time', () => {
  test.each([
    'oom_fragmented.pickle.gz',
    'whatif_expandable/oom_fragmented.pickle.gz',
    'cuda_graph_pool.pickle.gz',
    'train_recorded_late.pickle.gz',
  ])('%s: the top of the stack is the reserved counter', (name) => {
    const { replay, lives, index, eventCount } = segmentsOf(loadCapture(name));
    for (let state = 0; state < eventCount; state += 37) {
      const { reservedBytes } = replay.countersAt(state);
      const hits = stackHits(index, state, 0, Infinity);
      expect(hits.totalBytes).toBe(reservedBytes);
      expect(hits.ids).toEqual([...hits.ids].sort((a, b) => lives.start[a] - lives.start[b]));
    }
    const scene = {
      viewport: {
        axis: 'event',
        x0: 0,
        x1: eventCount,
        y0: 0,
        y1: replay.peaks.reservedBytes.bytes,
        width: 50,
        height: 40,
      },
      classOf: new Uint8Array(lives.length),
      palette: { classes: Uint32Array.of(2, 3), background: 0, pending: 1, thin: 4 },
      lines: ['activeBytes'],
      selected: -1,
    } as const;
    const highest = drawFrame(index, scene).lines.activeBytes ?? new Float64Array(0);
    expect(Math.max(...highest)).toBe(replay.peaks.reservedBytes.bytes);
  });

  test('classes tell pools apart', () => {
    const text = '+A 512 @a.py:1 f\n+B 4Mi @a.py:2 f\n+C 4Mi @a.py:3 f pool=1,0';
    const { classes } = segmentsOf(snapshotFromText(text).snapshot);
    expect(classes).toEqual(['small', 'large', 'private']);
    const expandable = `set expandable_segments=true\n${text.split('\n').slice(0, 2).join('\n')}`;
    const mapped = segmentsOf(snapshotFromText(expandable).snapshot);
    expect(mapped.classes).toEqual(['expandable small', 'expandable large']);
  });

  test('says what a segment is, what created it and what released it', () => {
    const drawn = snapshotFromText(
      '+A 4Mi @train.py:10 forward\n-A\nempty\n+B 4Mi @train.py:20 eval',
    );
    const { context, lives } = segmentsOf(drawn.snapshot);
    expect(segmentFacts(context, lives, 0)).toMatchObject({
      label: `s${drawn.addressOf('A').toString(16)}_0`,
      sizeBytes: 20 * 2 ** 20,
      pool: 'large',
      privatePool: undefined,
      isExpandable: false,
      stream: '0',
      startEvent: 0,
      endEvent: drawn.eventOf('empty'),
      topFrame: { filename: 'train.py', line: 10, name: 'forward' },
    });
    const second = segmentFacts(context, lives, 1);
    expect(second.endEvent).toBe(NEVER);
    expect(second.releaseStack).toBeUndefined();
    const isSamePlace = lives.address[0] === lives.address[1];
    expect(second.label.endsWith(isSamePlace ? '_1' : '_0')).toBe(true);
  });
});
