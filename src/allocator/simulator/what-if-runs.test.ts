import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { type AllocConf, parseAllocConf } from './alloc-conf.ts';
import { limitOfCard, PRESETS } from './presets.ts';
import { recordedRun } from './recorded-run.ts';
import { commonCard, simulate, whatIfInput } from './what-if.ts';
import { type Limit, limitBytesOf, type RunStep, whatIfRuns } from './what-if-runs.ts';

const GIB = 2 ** 30;

function confOf(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
}

function captured(name: string) {
  const snapshot = loadCapture(`${name}.pickle.gz`);
  const input = whatIfInput(snapshot.devices[0], replaysOf(snapshot)[0], snapshot.settings);
  return { input, recorded: recordedRun(input, 2048) };
}

function runsOf(name: string, settings: readonly string[], limit: Limit, cards = false) {
  const { input, recorded } = captured(name);
  const confs = settings.map(confOf);
  const limitBytes = limitBytesOf(limit, recorded, input);
  const plan = { confs, limitBytes, parts: 64, cards: cards ? confs : [], findCard: commonCard };
  const steps: RunStep[] = [...whatIfRuns(input, plan)];
  const cases = steps.flatMap((step) => (step.kind === 'case' ? [step] : []));
  return { input, recorded, limitBytes, steps, cases, results: cases.map(({ result }) => result) };
}

describe('what-if runs', () => {
  it('equal separate runs of each setting', () => {
    const { input, steps, results } = runsOf('frag_gpt_varlen', PRESETS, 16 * GIB);
    const options = { limitBytes: 16 * GIB, parts: 64 };
    expect(results).toEqual(PRESETS.map((text) => simulate(input, confOf(text), options)));
    expect(steps.filter(({ kind }) => kind === 'card')).toEqual([]);
  });

  it("take the recorded run's limit from its failures", () => {
    const settings = ['', 'expandable_segments:True'];
    const { limitBytes, recorded, results } = runsOf('oom_fragmented', settings, 'recorded');
    expect(limitBytes).toBeLessThanOrEqual(6 * GIB);
    expect(limitBytes).toBe(recorded.peakReservedBytes);
    const [byDefault, expandable] = results;
    expect(byDefault?.ooms).toMatchObject([{ isRecorded: true }]);
    expect(expandable).toMatchObject({ ooms: [], servedOoms: 1 });
  });

  it.each(['none', 16 * GIB] as const)(
    'find the smallest card of each setting, whatever the limit: %s',
    (limit) => {
      const settings = ['', 'expandable_segments:True'];
      const { input, steps } = runsOf('frag_gpt_varlen', settings, limit, true);
      const cards = steps.flatMap((step) => (step.kind === 'card' ? [step] : []));
      expect(cards.map((step) => step.settings)).toEqual(settings);
      for (const { settings, card } of cards) {
        const { retries } = simulate(input, confOf(settings), {
          limitBytes: limitOfCard(card.gib ?? 0),
        });
        expect(card.retries).toBe(retries);
      }
      // The default allocator fits the same card only by releasing its whole cache.
      expect(cards[0]?.card.retries).toBeGreaterThan(5);
      expect(cards[1]?.card.retries).toBe(0);
    },
  );

  it('report progress that never falls', () => {
    const settings = ['expandable_segments:True', '', 'garbage_collection_threshold:0.8'];
    const { steps } = runsOf('frag_gpt_varlen', settings, 'none', true);
    const shares = steps.flatMap((step) => (step.kind === 'running' ? [step.done] : []));
    expect(shares.length).toBeGreaterThan(5);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  });

  it('give a range if frees waited for another stream: real runs are within it', () => {
    const settings = ['', 'expandable_segments:True,garbage_collection_threshold:0.6'];
    const { cases } = runsOf('streams_record_stream', settings, 'none');
    const mib = (bytes = Number.NaN) => bytes / 2 ** 20;
    expect(cases.map(({ result }) => mib(result.peakReservedBytes))).toEqual([3424, 3440]);
    expect(cases.map(({ lowestBytes }) => mib(lowestBytes))).toEqual([288, 300]);
    const { cases: others } = runsOf('train_gpt_small', settings, 'none');
    expect(others.map(({ lowestBytes }) => lowestBytes)).toEqual([undefined, undefined]);
  });
});

it('the recorded run says at which event and time each part of its curves begins', () => {
  const { input, recorded } = captured('train_gpt_small');
  const { events, timesUs, reserved } = recorded;
  expect(events).toHaveLength(reserved.highest.length + 1);
  expect(events[0]).toBe(0);
  expect(events.at(-1)).toBe(input.trace.events.length);
  expect(timesUs).toHaveLength(events.length);
  expect(timesUs).toEqual(timesUs?.slice().sort());
});
