import { describe, expect, it } from 'vitest';
import { type EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { captureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { allocationLabel } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { EventReader } from './event-reader.ts';

const drawn = (text: string) => {
  const drawing = snapshotFromText(text);
  return { ...drawing, reader: new EventReader(contextsOf(drawing.snapshot)[0]) };
};

const STORY = `
  +A 700 @train.py:10 forward < main.py:3 main
  +B 5Mi stream=2 @train.py:20 backward
  -A
  +C 700 @train.py:11 forward
  -B?
  oom 4Gi free=4096
  -B!
  snapshot
  empty
`;

describe('a row', () => {
  it('says what, where, how much, and at which line', () => {
    const { reader, eventOf } = drawn(STORY);
    const [row] = reader.rows([eventOf('+A')]);
    expect(row).toMatchObject({
      action: 'alloc',
      address: 'b7f0000000000_0',
      allocation: 'b7f0000000000_0',
      sizeBytes: 700,
      stream: '0',
      pool: 'small',
      privatePool: undefined,
      frame: { name: 'forward', filename: 'train.py', line: 10 },
      stackKind: 'recorded',
    });
    expect(row.timeUs).toBe(10 * eventOf('+A'));
  });

  it('numbers each use of an address', () => {
    const { reader, eventOf } = drawn(STORY);
    const rows = reader.rows([eventOf('-A'), eventOf('+C')]);
    expect(rows.map(({ address }) => address)).toEqual(['b7f0000000000_0', 'b7f0000000000_1']);
  });

  it('gives the counters after the event', () => {
    const { reader, counters, snapshot } = drawn(STORY);
    const { length } = snapshot.devices[0].events;
    const rows = reader.rows(Array.from({ length }, (_, event) => event));
    expect(rows.map(({ allocatedBytes }) => allocatedBytes)).toEqual(
      counters[0].slice(1).map(({ allocatedBytes }) => allocatedBytes),
    );
    expect(rows.map(({ reservedBytes }) => reservedBytes)).toEqual(
      counters[0].slice(1).map(({ reservedBytes }) => reservedBytes),
    );
  });

  it('has no address, pool or pair if the event has none', () => {
    const { reader, eventOf } = drawn(STORY);
    for (const row of reader.rows([eventOf('oom'), eventOf('snapshot')])) {
      expect(row).toMatchObject({ address: '', pool: undefined, allocation: undefined });
      expect(row.pair).toEqual({ kind: 'none' });
    }
  });

  it('distinguishes a free without an allocation from one of a pre-trace allocation', () => {
    const context = contextOf(
      traceOf(
        { action: 'alloc', addr: 4096, size: 512 },
        { action: 'free_completed', addr: 4096, size: 512 },
        { action: 'teleport', addr: 8192, size: 512 },
      ),
    );
    const [, , odd] = new EventReader(context).rows([0, 1, 2]);
    expect(odd).toMatchObject({ action: 'teleport', address: '2000', pair: { kind: 'none' } });
    const late = drawn('+A 512\nrecord\n-A');
    expect(late.reader.rows([0])[0].pair).toEqual({ kind: 'before-trace' });
  });
});

describe('a pair', () => {
  it('links an alloc with the request of its free, and both halves of the free with the alloc', () => {
    const { reader, eventOf } = drawn(STORY);
    const [alloc, requested, completed] = reader.rows([
      eventOf('+B'),
      eventOf('-B?'),
      eventOf('-B!'),
    ]);
    expect(alloc.pair).toEqual({
      kind: 'event',
      event: eventOf('-B?'),
      action: 'free_requested',
    });
    expect(requested.pair).toMatchObject({ event: eventOf('+B'), action: 'alloc' });
    expect(completed.pair).toMatchObject({ event: eventOf('+B') });
    expect(reader.details(eventOf('-B?')).related).toEqual([
      { event: eventOf('+B'), action: 'alloc' },
      { event: eventOf('-B!'), action: 'free_completed' },
    ]);
  });

  it('says what is never freed', () => {
    const { reader, eventOf } = drawn(STORY);
    expect(reader.rows([eventOf('+C')])[0].pair).toEqual({ kind: 'after-trace' });
  });

  it('links a segment with its end', () => {
    const { reader, eventOf, snapshot } = drawn(STORY);
    const { action, length } = snapshot.devices[0].events;
    const ends = eventsOf({ action, length }, TraceAction.SegmentFree);
    expect(ends).toHaveLength(1);
    const [row] = reader.rows(ends);
    expect(row.pair).toMatchObject({ kind: 'event', action: 'segment_alloc' });
    // B's segment comes with B.
    expect(row.pair).toMatchObject({ event: eventOf('+B') - 1 });
    expect(reader.rows([eventOf('+B') - 1])[0].pair).toMatchObject({ event: ends[0] });
  });

  it('links an unmap with every map it takes from', () => {
    const { reader, eventOf } = drawn(`
      +map 20Mi large @0x40000000
      +map 20Mi large @0x41400000
      -map 40Mi @0x40000000
      +map 20Mi large @0x40000000
    `);
    const unmap = eventOf('-map');
    expect(reader.details(unmap).related.map(({ event }) => event)).toEqual([0, 1]);
    expect(reader.rows([0, 1]).map(({ pair }) => pair)).toEqual([
      { kind: 'event', event: unmap, action: 'segment_unmap' },
      { kind: 'event', event: unmap, action: 'segment_unmap' },
    ]);
    expect(reader.rows([0, unmap, 3]).map(({ address }) => address)).toEqual([
      's40000000_0',
      's40000000_0',
      's40000000_1',
    ]);
  });

  it('leads back to the map through what earlier unmaps left of it', () => {
    const { reader, eventOf } = drawn(`
      +map 60Mi large @0x40000000
      -map 20Mi @0x40000000
      -map 20Mi @0x41400000
    `);
    expect(reader.rows([eventOf('-map', 1)])[0].pair).toMatchObject({ event: 0 });
    expect(reader.rows([0])[0].pair).toMatchObject({ event: eventOf('-map') });
  });
});

describe('details', () => {
  it('say what the driver had free at an OOM', () => {
    const { reader, eventOf } = drawn(STORY);
    expect(reader.details(eventOf('oom')).deviceFreeBytes).toBe(4096);
    expect(reader.details(eventOf('+A')).deviceFreeBytes).toBeNaN();
  });

  it('show the block besides the request, and all frames', () => {
    const { reader, eventOf } = drawn(STORY);
    const details = reader.details(eventOf('+A'));
    expect(details).toMatchObject({ sizeBytes: 700, blockBytes: 1024 });
    expect(details.stack.frames.map(({ name }) => name)).toEqual(['forward', 'main']);
  });

  it('keep keys that no version writes, and all labels', () => {
    const context = contextOf(
      traceOf({
        action: 'alloc',
        addr: 4096,
        size: 512,
        compile_context: 'Torch-Compiled Region: 0/0',
        user_metadata: 'step 3',
        forward_frames: ['a.py:1', 'b.py:2'],
        color: 'blue',
      }),
    );
    expect(new EventReader(context).details(0)).toMatchObject({
      compileContext: 'Torch-Compiled Region: 0/0',
      userMetadata: 'step 3',
      forwardFrames: ['a.py:1', 'b.py:2'],
      unknownKeys: [{ key: 'color', value: 'blue' }],
    });
  });

  it('say that the stack of a free is its alloc’s', () => {
    const frames = [{ name: 'f', filename: 'f.py', line: 1 }];
    const context = contextOf(
      traceOf(
        { action: 'alloc', addr: 4096, size: 512, frames },
        { action: 'free_completed', addr: 4096, size: 512, frames },
      ),
    );
    const reader = new EventReader(context);
    expect(reader.details(0).stackIsAllocStack).toBe(false);
    expect(reader.details(1).stackIsAllocStack).toBe(true);
  });
});

/** Events of a capture: each row costs about 20 µs. */
const LOOKED_AT = 10_000;

describe.each(captureNames().filter((name) => !isRepeated(name)))('%s', (name) => {
  const contexts = contextsOf(loadCapture(name));

  it('names and pairs every event as a walk by address does', () => {
    for (const context of contexts) {
      const { events } = context.trace;
      const reader = new EventReader(context);
      // All events of most captures, and a sample of the few long ones.
      const step = Math.ceil(events.length / LOOKED_AT);
      const length = Math.ceil(events.length / step) || 0;
      const rows = reader.rows(Array.from({ length }, (_, i) => i * step));
      const frees = freesByAddress(events);
      const freeRows = reader.rows(rows.flatMap(({ event }) => frees.get(event) ?? []));
      const backs = new Map(freeRows.map(({ event, pair }) => [event, pair]));
      const wrong = rows.filter(({ action, event, pair }) => {
        if (action !== 'alloc') return false;
        const free = frees.get(event);
        if (free === undefined) return pair.kind !== 'after-trace';
        const back = backs.get(free) ?? { kind: 'none' };
        const isLinked = pair.kind === 'event' && pair.event === free;
        return !isLinked || back.kind !== 'event' || back.event !== event;
      });
      expect(wrong).toEqual([]);
      checkLabels(context, reader);
      const [last] = events.length === 0 ? [] : reader.rows([events.length - 1]);
      if (last !== undefined) expect(last.reservedBytes).toBe(context.replay.end.reservedBytes);
    }
  });
});

/** One in seventeen of them, 60 if there are many: each is a scan of all. */
function checkLabels({ replay, snapshot }: DeviceModel, reader: EventReader): void {
  const { allocations } = replay;
  const step = Math.max(17, Math.ceil(allocations.length / 60));
  for (let id = allocations.preexisting; id < allocations.length; id += step) {
    const [row] = reader.rows([allocations.start[id]]);
    expect(row.allocation).toBe(allocationLabel(allocations, snapshot.addresses, id));
  }
}

/** By the address alone: the next free_requested there after each alloc. */
function freesByAddress({ action, address, length }: EventTable): ReadonlyMap<number, number> {
  const frees = new Map<number, number>();
  const open = new Map<number, number>();
  for (let event = 0; event < length; event++) {
    if (action[event] === TraceAction.Alloc) open.set(address[event], event);
    const alloc = open.get(address[event]);
    if (action[event] !== TraceAction.FreeRequested || alloc === undefined) continue;
    frees.set(alloc, event);
    open.delete(address[event]);
  }
  return frees;
}

function eventsOf({ action, length }: Pick<EventTable, 'action' | 'length'>, wanted: number) {
  return Array.from({ length }, (_, event) => event).filter((event) => action[event] === wanted);
}
