import { describe, expect, it } from 'vitest';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { OpenDevice } from '../open-device.ts';
import { transferablesOf } from '../rpc.ts';
import { type AllocatorStateRequest, allocatorStateHandlers } from './allocator-state.ts';

const MI = 2 ** 20;
const { snapshot, eventOf } = snapshotFromText(`
  +A 4Mi @train.py:10 forward
  +B 2Mi @train.py:20 backward
  +C 40Mi @train.py:10 forward
  -B
`);
const [context] = contextsOf(snapshot);
const device = new OpenDevice(context, nodeClock);
const call = { signal: new AbortController().signal, onProgress: () => undefined };
const end = snapshot.devices[0].events.length - 1;
const request: AllocatorStateRequest = {
  deviceIndex: 0,
  event: end,
  order: 'size',
  positions: [0, 1],
  width: 10,
  colorBy: 'size',
  classes: 9,
  search: '',
};

describe('a state for the page', () => {
  it('has the rows and bars of the requested positions', async () => {
    const { overview, positions, rows, bars } = await allocatorStateHandlers.allocatorState(
      device,
      { ...request, positions: [1, 7, 0] },
      call,
    );
    expect(overview).toMatchObject({ event: end, totals: { segments: 2, liveBlocks: 2 } });
    expect(positions).toEqual([1, 0]);
    expect(rows.map(({ sizeBytes }) => sizeBytes)).toEqual([20 * MI, 40 * MI]);
    expect([...bars.allocation]).toEqual([...[0, 0], ...Array(8).fill(-1), ...Array(10).fill(2)]);
  });

  it('moves its bars to the page', async () => {
    const answer = await allocatorStateHandlers.allocatorState(device, request, call);
    expect(transferablesOf(answer)).toHaveLength(5);
  });

  it('marks what the search finds', async () => {
    const search = 'backward';
    const at = eventOf('+B');
    const { bars } = await allocatorStateHandlers.allocatorState(
      device,
      { ...request, event: at, positions: [0], search },
      call,
    );
    expect([...bars.allocation.subarray(0, 4)]).toEqual([0, 0, 1, -1]);
    expect([...bars.isMatch.subarray(0, 4)]).toEqual([0, 0, 1, 0]);
  });

  it('is the end state for an event beyond the end', async () => {
    const { overview } = await allocatorStateHandlers.allocatorState(
      device,
      { ...request, event: 1e9 },
      call,
    );
    expect(overview.event).toBe(end);
  });

  it('says what lies under a pixel', async () => {
    const { event, order } = request;
    const under = (position: number, from: number, to: number) =>
      allocatorStateHandlers.stateHit(
        device,
        { deviceIndex: 0, event, order, position: position, from, to },
        call,
      );
    expect(await under(1, 0, 0.1)).toMatchObject({ kind: 'blocks', hit: { allocation: 0 } });
    expect(await under(1, 0.5, 0.6)).toMatchObject({ kind: 'free', sizeBytes: 16 * MI });
    expect(await under(9, 0, 1)).toBeUndefined();
  });

  it('leads from block to block', async () => {
    const { event, order } = request;
    const block = (allocation: number, step: -1 | 0 | 1, position = 0) =>
      allocatorStateHandlers.stateBlock(
        device,
        { deviceIndex: 0, event, order, allocation, step, position: position },
        call,
      );
    expect(await block(-1, 1)).toMatchObject({ allocation: 2, position: 0 });
    expect(await block(2, 1)).toMatchObject({ allocation: 0, position: 1 });
    expect(await block(0, 0)).toMatchObject({ label: 'b7f0000000000_0', position: 1 });
    expect(await block(0, 1)).toBeUndefined();
    // B is freed by then.
    expect(await block(1, 0)).toBeUndefined();
  });
});
