import { describe, expect, it } from 'vitest';
import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { limitOfCard, PRESETS } from '../../allocator/simulator/presets.ts';
import { simulate, smallestCard, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { abortError, isAbortError } from '../../base/errors.ts';
import { runToEnd } from '../../base/task.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { AnalysisDevice, cloneDevice } from './device-copy.ts';
import { type WhatIfProgress, type WhatIfRequest, WhatIfRuns } from './what-if-runs.ts';

const GIB = 2 ** 30;
const clock = { now: () => 0, yieldTask: async () => {} };

function contextOfCapture(name: string) {
  const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
  if (context === undefined) throw new Error(`${name} has no device`);
  return context;
}

/** As in the worker: on a copy that lacks most columns of the trace. */
async function deviceOf(name: string): Promise<AnalysisDevice> {
  return new AnalysisDevice(await cloneDevice(contextOfCapture(name), clock));
}

function confOf(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
}

const request = (part: Partial<WhatIfRequest>): WhatIfRequest => ({
  deviceIndex: 0,
  settings: PRESETS,
  limit: 'none',
  cards: false,
  ...part,
});

const runsOf = (device: AnalysisDevice) => new WhatIfRuns(device);

/** Asks, and collects what is reported. Rejects as if cancelled after so many pauses. */
async function ask(device: AnalysisDevice, asked: WhatIfRequest, mostPauses = Infinity) {
  const reported: WhatIfProgress[] = [];
  let pauses = 0;
  const answer = await device.once(runsOf).run(asked, {
    onProgress: (progress) => reported.push(progress),
    pause: async () => {
      if (++pauses > mostPauses) throw abortError('Cancelled');
    },
  });
  return { answer, reported, pauses };
}

describe('what-if runs in the worker', () => {
  it.each([
    ['frag_gpt_varlen', 16 * GIB],
    ['oom_fragmented', 6 * GIB],
    ['cuda_graph_pool', 'none'],
    ['streams_record_stream', 'none'],
    ['train_recorded_late', 'none'],
    ['no_history', 'none'],
  ] as const)('%s: on the copied columns as on the whole device', async (name, limit) => {
    const settings = ['', 'expandable_segments:True', 'max_split_size_mb:128'];
    const { answer } = await ask(await deviceOf(name), request({ settings, limit }));
    const limitBytes = limit === 'none' ? undefined : limit;
    expect(answer.limitBytes).toBe(limitBytes);
    const { trace, replay, snapshot } = contextOfCapture(name);
    const input = whatIfInput(trace, replay, snapshot.settings);
    const expected = settings.map((text) => {
      return simulate(input, confOf(text), { limitBytes, parts: 2048 });
    });
    expect(answer.cases).toEqual(expected);
    expect(answer.recorded.run.peakReservedBytes).toBe(replay.peaks.reservedBytes.bytes);
  });

  it('takes the limit of the recorded run from its failures', async () => {
    const device = await deviceOf('oom_fragmented');
    const settings = ['', 'expandable_segments:True'];
    const { answer } = await ask(device, request({ settings, limit: 'recorded' }));
    expect(answer.limitBytes).toBeLessThanOrEqual(6 * GIB);
    expect(answer.limitBytes).toBe(answer.recorded.run.peakReservedBytes);
    const [byDefault, expandable] = answer.cases;
    expect(byDefault?.ooms).toMatchObject([{ isRecorded: true }]);
    expect(expandable).toMatchObject({ ooms: [], servedOoms: 1 });
  });

  it('tells each result as it comes, and ends with all of them', async () => {
    const settings = ['expandable_segments:True', '', 'garbage_collection_threshold:0.8'];
    const { answer, reported } = await ask(
      await deviceOf('frag_gpt_varlen'),
      request({ settings, cards: true }),
    );
    const results = reported.flatMap((one) => (one.kind === 'case' ? [one.result] : []));
    expect(results).toEqual(answer.cases);
    expect(results.map((result) => result.settings)).toEqual(settings);
    const cards = reported.flatMap((one) =>
      one.kind === 'card' ? [[one.settings, one.card]] : [],
    );
    expect(cards).toEqual([...answer.cards]);
    const shares = reported.flatMap((one) => (one.kind === 'running' ? [one.done] : []));
    expect(shares.length).toBeGreaterThan(5);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  });

  it('finds the smallest card that the search for the least limit finds', async () => {
    const settings = ['', 'expandable_segments:True'];
    const { answer } = await ask(
      await deviceOf('frag_gpt_varlen'),
      request({ settings, cards: true }),
    );
    const { trace, replay, snapshot } = contextOfCapture('frag_gpt_varlen');
    const input = whatIfInput(trace, replay, snapshot.settings);
    for (const text of settings) {
      const gib = runToEnd(smallestCard(input, confOf(text))).cardGib ?? 0;
      const { retries } = simulate(input, confOf(text), { limitBytes: limitOfCard(gib) });
      expect(answer.cards.get(text)).toEqual({ gib, retries });
    }
    // The default allocator gets by on the same card only by giving back all that it caches.
    expect(answer.cards.get('')?.retries).toBeGreaterThan(5);
    expect(answer.cards.get('expandable_segments:True')?.retries).toBe(0);
  });

  it('is cancelled within a run, keeps what was finished, and goes on from there', async () => {
    const device = await deviceOf('frag_gpt_varlen');
    const all = request({ settings: ['', 'expandable_segments:True'] });
    const first = await ask(device, request({ settings: [''] }));
    const [result] = first.answer.cases;
    await expect(ask(device, all, 2)).rejects.toSatisfy(isAbortError);
    const again = await ask(device, all);
    expect(again.answer.cases[0]).toBe(result);
    expect(again.answer.cases[1]?.settings).toBe('expandable_segments:True');
    expect((await ask(device, all)).pauses).toBe(1);
  });

  it('runs once what two ask for at the same time', async () => {
    const device = await deviceOf('frag_gpt_varlen');
    const same = request({ settings: ['expandable_segments:True'] });
    const [first, second] = await Promise.all([ask(device, same), ask(device, same)]);
    expect(second.answer.cases[0]).toBe(first.answer.cases[0]);
    expect(second.pauses).toBe(1);
  });

  it('gives a range where frees waited for another stream: real runs lie in it', async () => {
    const device = await deviceOf('streams_record_stream');
    const settings = ['', 'expandable_segments:True,garbage_collection_threshold:0.6'];
    const { answer, reported } = await ask(device, request({ settings }));
    const mib = (bytes: number | undefined) => (bytes ?? Number.NaN) / 2 ** 20;
    expect(answer.cases.map((result) => mib(result.peakReservedBytes))).toEqual([3424, 3440]);
    expect(settings.map((text) => mib(answer.lowest.get(text)))).toEqual([288, 300]);
    expect(reported.filter(({ kind }) => kind === 'lowest')).toHaveLength(2);
    const { answer: other } = await ask(await deviceOf('train_gpt_small'), request({ settings }));
    expect(other.lowest.size).toBe(0);
  });

  it('gives the times at which the parts of the curves begin', async () => {
    const device = await deviceOf('train_gpt_small');
    const { recorded } = (await ask(device, request({ settings: [] }))).answer;
    const { events, timesUs, run } = recorded;
    expect(events).toHaveLength(run.reserved.highest.length + 1);
    expect(events[0]).toBe(0);
    expect(events.at(-1)).toBe(device.input.trace.events.length);
    expect(timesUs).toHaveLength(events.length);
    expect(timesUs).toEqual(timesUs?.slice().sort());
  });
});
