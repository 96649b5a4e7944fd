import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assert } from '../../base/errors.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { BlockState, type DeviceTrace } from '../../format/snapshot/tables.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { allCaptureNames, loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { Replay } from '../replay/types.ts';
import { allocatorStateAt, mappedSince } from './allocator-state.ts';
import { type AllocatorState, SegmentKind } from './types.ts';

function stateAt({ trace, replay }: DeviceModel, event: number): AllocatorState {
  return allocatorStateAt(replay, mappedSince(replay.segmentSpans, trace.events), event);
}

/** The file's own segments in the form of {@link rowsOf}. */
function rowsOfFile({ segments: s, blocks: b }: DeviceTrace): string[] {
  const rows: string[] = [];
  for (let i = 0; i < s.length; i++) {
    const kind = s.isExpandable[i] === 1 ? SegmentKind.Expandable : SegmentKind.Native;
    rows.push(
      `segment ${s.address[i]} ${s.totalBytes[i]} ${kind} ${s.isSmall[i]} ${s.pool[i]} ${s.stream[i]}`,
    );
    for (let k = s.firstBlock[i]; k < s.firstBlock[i + 1]; k++) {
      rows.push(`block ${b.address[k]} ${b.sizeBytes[k]} ${b.state[k]} ${b.requestedBytes[k]}`);
    }
  }
  return rows;
}

function rowsOf({ segments: s, blocks: b }: AllocatorState, replay: Replay): string[] {
  const rows: string[] = [];
  for (let i = 0; i < s.length; i++) {
    rows.push(
      `segment ${s.address[i]} ${s.sizeBytes[i]} ${s.kind[i]} ${s.isSmall[i]} ${s.pool[i]} ${s.stream[i]}`,
    );
    for (let k = s.firstBlock[i]; k < s.firstBlock[i + 1]; k++) {
      const id = b.allocation[k];
      const requested = id < 0 ? 0 : replay.allocations.requestedBytes[id];
      rows.push(`block ${b.address[k]} ${b.sizeBytes[k]} ${b.state[k]} ${requested}`);
    }
  }
  return rows;
}

/** The counters, by adding up. Fails if blocks overlap, leave a hole, or have another sum. */
function sumsOf({ segments: s, blocks: b }: AllocatorState) {
  const sums = { allocatedBytes: 0, activeBytes: 0, reservedBytes: 0, inactiveSplitBytes: 0 };
  for (let i = 0; i < s.length; i++) {
    let at = s.address[i];
    let [live, allocated, pending, largest] = [0, 0, 0, 0];
    for (let k = s.firstBlock[i]; k < s.firstBlock[i + 1]; k++) {
      assert(b.address[k] === at, 'blocks follow each other');
      at += b.sizeBytes[k];
      if (b.state[k] === BlockState.Inactive) largest = Math.max(largest, b.sizeBytes[k]);
      else live++;
      if (b.state[k] === BlockState.Allocated) allocated += b.sizeBytes[k];
      if (b.state[k] === BlockState.PendingFree) pending += b.sizeBytes[k];
    }
    assert(at === s.address[i] + s.sizeBytes[i], 'blocks fill their segment');
    assert(s.liveBlocks[i] === live && s.largestFreeBytes[i] === largest, 'counts of a segment');
    assert(s.allocatedBytes[i] === allocated && s.pendingBytes[i] === pending, 'its bytes');
    sums.allocatedBytes += allocated;
    sums.activeBytes += allocated + pending;
    if (s.kind[i] === SegmentKind.None) continue;
    sums.reservedBytes += s.sizeBytes[i];
    if (s.kind[i] === SegmentKind.Native && live > 0) {
      sums.inactiveSplitBytes += s.sizeBytes[i] - allocated - pending;
    }
  }
  return sums;
}

const EVENTS_A_CAPTURE = 30;

it.each(allCaptureNames())('%s: at the end the file’s own, before that the counters', (name) => {
  for (const context of contextsOf(loadCapture(name))) {
    const { trace, replay } = context;
    const last = trace.events.length - 1;
    expect(rowsOf(stateAt(context, last), replay)).toEqual(rowsOfFile(trace));
    for (let i = 0; i <= EVENTS_A_CAPTURE; i++) {
      const event = Math.round(-1 + ((last + 1) * i) / EVENTS_A_CAPTURE);
      expect(replay.countersAt(event)).toMatchObject(sumsOf(stateAt(context, event)));
    }
  }
});

describe('any program', () => {
  it.each([
    { what: 'native', settings: [] },
    { what: 'expandable', settings: ['set expandable_segments=true'] },
    { what: 'split limit', settings: ['set max_split_size=20971520'] },
  ])('$what: the state is the allocator’s after each event', ({ settings }) => {
    fc.assert(
      fc.property(allocatorProgram(settings), (lines) => {
        const drawn = snapshotFromText(lines.join('\n'));
        const [context] = contextsOf(drawn.snapshot);
        const last = context.trace.events.length - 1;
        for (let event = -1; event <= last; event++) {
          expect(drawn.counters[0][event + 1]).toMatchObject(sumsOf(stateAt(context, event)));
        }
        const rows = rowsOf(stateAt(context, last), context.replay);
        expect(rows).toEqual(rowsOfFile(context.trace));
      }),
      { numRuns: 60 },
    );
  });
});

describe('what the trace does not show', () => {
  it('shows blocks separately if no segment is known', () => {
    const context = contextOf(
      traceOf(
        { action: 'alloc', addr: 4096, size: 1000, frames: [] },
        { action: 'alloc', addr: 65536, size: 512, frames: [] },
        { action: 'free_requested', addr: 4096, size: 1000 },
        { action: 'free_completed', addr: 65536, size: 512 },
      ),
    );
    const { segments, blocks } = stateAt(context, 2);
    expect([...segments.kind]).toEqual([SegmentKind.None, SegmentKind.None]);
    expect([...segments.sizeBytes]).toEqual([1024, 512]);
    expect([...blocks.state]).toEqual([BlockState.PendingFree, BlockState.Allocated]);
    expect([...segments.pendingBytes]).toEqual([1024, 0]);
    expect([...segments.requestedBytes]).toEqual([1000, 512]);
  });
});

describe('age', () => {
  it('is that of the oldest piece; a remainder is as old as the piece it was cut from', () => {
    const drawn = snapshotFromText(`
      set expandable_segments=true
      +map 20Mi large @0x100000000
      +map 20Mi large @0x101400000
      +map 60Mi large @0x102800000
      -map 20Mi @0x103c00000
    `);
    const [context] = contextsOf(drawn.snapshot);
    const { segments } = stateAt(context, 3);
    expect([...segments.sizeBytes]).toEqual([60 * 2 ** 20, 20 * 2 ** 20]);
    expect([...segments.pieces]).toEqual([3, 1]);
    expect([...segments.firstMapped]).toEqual([0, 2]);
    expect([...segments.lastMapped]).toEqual([2, 2]);
  });
});
