import { describe, expect, it } from 'vitest';
import { DEFAULT_VIEW } from '../../state/view-store.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { flameBoxesQuery } from '../../ui/views/flame-graph/use-flame.ts';
import { OpenDevice } from '../open-device.ts';
import { transferablesOf } from '../rpc.ts';
import { type FlameRequest, flameGraphHandlers } from './flame-graph.ts';

const open = (name: string) =>
  new OpenDevice(contextsOf(loadCapture(`${name}.pickle.gz`))[0], nodeClock);
const CALL = { signal: new AbortController().signal, onProgress: () => undefined };
const ASKED = { deviceIndex: 0, ...flameBoxesQuery(DEFAULT_VIEW, 1024) };

describe('flame answers', () => {
  const device = open('train_gpt_small');
  const { peaks } = device.context.replay;
  const ask = async (change: Partial<FlameRequest>) =>
    flameGraphHandlers.flame(device, { ...ASKED, ...change }, CALL);

  it('give the peak, with arrays that move', async () => {
    const answer = await ask({});
    expect(answer.set).toEqual({ kind: 'live', event: peaks.activeBytes.event });
    expect(answer.graph?.total.value).toBe(peaks.activeBytes.bytes);
    expect(answer.hasStacks).toBe(true);
    expect(transferablesOf(answer)).toHaveLength(8);
  });

  it('list as many rows as they say', async () => {
    const { rowCount } = await ask({});
    const order = { by: 'total', descending: true } as const;
    const page = await flameGraphHandlers.flameRows(
      device,
      { ...ASKED, order, from: 0, to: 1e6 },
      CALL,
    );
    expect(page.length).toBe(rowCount);
    expect(page.rows).toHaveLength(rowCount);
  });

  it.each(['line', 'stack'] as const)(
    'find a row by %s again, with its new figures',
    async (by) => {
      const order = { by: 'total', descending: true } as const;
      const peak = await flameGraphHandlers.flameRows(
        device,
        { ...ASKED, groupBy: by, order, from: 0, to: 1 },
        CALL,
      );
      const [{ key, total }] = peak.rows;
      const asked = { ...ASKED, by, key };
      expect((await flameGraphHandlers.flameRow(device, asked, CALL))?.total).toBe(total);
      const counted = await flameGraphHandlers.flameRow(
        device,
        { ...asked, weight: 'count' },
        CALL,
      );
      expect(counted?.total).toBe(peak.rows[0].count);
      expect(
        await flameGraphHandlers.flameRow(device, { ...asked, key: 'gone' }, CALL),
      ).toBeUndefined();
    },
  );

  it('have nothing to compare without a second cursor, or with both at one event', async () => {
    expect((await ask({ dataset: 'difference', cursor: 5 })).graph).toBeUndefined();
    expect(
      (await ask({ dataset: 'difference', cursor: 5, secondCursor: 5 })).graph,
    ).toBeUndefined();
    const { set } = await ask({ dataset: 'difference', cursor: 5, secondCursor: 90 });
    expect(set).toEqual({ kind: 'difference', before: 90, after: 5 });
  });

  it('treat an event beyond the end as the end', async () => {
    const { set, graph } = await ask({ dataset: 'cursor', cursor: 1e9 });
    expect(set).toEqual({ kind: 'live', event: device.context.trace.events.length - 1 });
    expect(graph?.total.value).toBe(device.context.replay.end.activeBytes);
  });

  it('use the events that a window of either axis shows', async () => {
    const events = await ask({ dataset: 'window', window: { axis: 'event', from: 99.5, to: 200 } });
    expect(events.set).toEqual({ kind: 'window', from: 100, to: 200 });
    const { timeUs } = device.context.trace.events;
    if (timeUs === undefined) throw new Error('The capture has times');
    const [from, to] = [timeUs[100] - timeUs[0], timeUs[200] - timeUs[0]];
    const times = await ask({ dataset: 'window', window: { axis: 'time', from, to } });
    expect(times.set).toMatchObject({ kind: 'window' });
    if (times.set?.kind !== 'window') return;
    expect(timeUs[times.set.from]).toBe(timeUs[100]);
    expect(timeUs[times.set.to]).toBe(timeUs[200]);
  });

  it('follow the search: a share of all, or only what matches', async () => {
    const search = 'size>8MiB';
    const shown = (await ask({ search })).graph?.total;
    const alone = (await ask({ search, onlyMatches: true })).graph?.total;
    expect(shown?.value).toBe(peaks.activeBytes.bytes);
    expect(alone?.value).toBe(shown?.matched);
    expect(alone?.value).toBeGreaterThan(0);
    expect(alone?.value).toBeLessThan(peaks.activeBytes.bytes);
  });

  it('save the same as text', async () => {
    const request = { ...ASKED, name: 'x' };
    const folded = await flameGraphHandlers.flameExport(
      device,
      { ...request, format: 'folded' },
      CALL,
    );
    expect(folded).toContain('scenarios.py');
    const json = await flameGraphHandlers.flameExport(
      device,
      { ...request, format: 'speedscope' },
      CALL,
    );
    expect(JSON.parse(json).profiles[0].endValue).toBe(peaks.activeBytes.bytes);
  });
});

it('says when a file holds no stacks, and still adds up', async () => {
  const device = open('no_history');
  const answer = await flameGraphHandlers.flame(device, { ...ASKED, dataset: 'end' }, CALL);
  expect(answer.hasStacks).toBe(false);
  expect(answer.graph?.total.value).toBe(device.context.replay.end.activeBytes);
  expect(answer.graph?.groups).toEqual([{ kind: 'absent', reason: 'before-recording' }]);
});
