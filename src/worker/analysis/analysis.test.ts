import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { commonCard, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { type WhatIfProgress, whatIfRuns } from '../../allocator/simulator/what-if-runs.ts';
import { DETECTOR_IDS, type Finding } from '../../analysis/findings/detectors.ts';
import { abortError, isAbortError } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { createIdleCounter } from '../../state/page-timings.ts';
import { analysisOf } from '../../testing/analysed.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import type { InThreadWorker } from '../../testing/in-thread-worker.ts';
import { analysisWorker, openSession } from '../../testing/open-session.ts';
import type { SessionApi } from '../protocol.ts';
import { type AnalysisClient, type AnalysisClientOptions, createAnalysisClient } from './client.ts';

/** Timeouts, and the clock that measures them, stand still until told to advance; messages do not wait for them. */
function useFakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Lets time pass, and then lets the messages on their way arrive. */
async function passMs(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

function confOf(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
}

interface Analysed {
  readonly client: AnalysisClient;
  readonly workers: readonly InThreadWorker[];
}

function clientOf(session: SessionApi, options: Partial<AnalysisClientOptions> = {}): Analysed {
  const workers: InThreadWorker[] = [];
  const client = createAnalysisClient({
    session,
    idle: createIdleCounter(),
    createWorker: () => {
      const worker = analysisWorker();
      workers.push(worker);
      return worker;
    },
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, workers };
}

describe('over the ports', () => {
  it.each([
    'leak_forward_hook',
    'oom_fragmented',
    'oom_batch_too_big',
    'eval_without_no_grad',
    'frag_gpt_varlen',
    'streams_record_stream',
    'train_recorded_late',
    'train_annotated',
    'no_history',
    'train_gpt_cpp_stacks',
    'near-miss/cudnn_tries_workspaces',
    // Frees have stacks of their own.
    'others/imagenet_resnet_healthy_default_stacks',
    'others/lightning_healthy',
    'others/raft_oom_outlier_ring',
    'others/style_lru_cache',
    'others/unet_retry',
    'others/wlm_eval_hidden',
  ])('findings in %s are those that analyse() finds', async (name) => {
    const { client } = clientOf(await openSession(name));
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    expect(await client.query('findings', { deviceIndex: 0 })).toEqual(await analysisOf(context));
  });

  // The copy lacks most columns of the trace.
  it.each([
    'frag_gpt_varlen',
    'oom_fragmented',
    'cuda_graph_pool',
    'streams_record_stream',
    'train_recorded_late',
    'no_history',
  ])('what-if runs of %s are those of the whole device', async (name) => {
    const { client } = clientOf(await openSession(name));
    const settings = ['', 'expandable_segments:True', 'max_split_size_mb:128'];
    const request = { deviceIndex: 0, settings, limit: 6 * 2 ** 30, cards: [''] };
    const steps: WhatIfProgress[] = [];
    const onProgress = (step: WhatIfProgress) => steps.push(step);
    await client.query('whatIf', request, { onProgress });
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    if (context === undefined) throw new Error('no device');
    const input = whatIfInput(context.trace, context.replay, context.snapshot.settings);
    const confs = settings.map(confOf);
    const plan = { confs, limitBytes: request.limit, parts: 2048, findCard: commonCard };
    const runs = [...whatIfRuns(input, { ...plan, cards: confs.slice(0, 1) })];
    const isResult = ({ kind }: WhatIfProgress) => kind === 'case' || kind === 'card';
    expect(steps.filter(isResult)).toEqual(runs.filter(isResult));
    const { bytes: peakReservedBytes } = context.replay.peaks.reservedBytes;
    expect(steps[0]).toMatchObject({ kind: 'recorded', recorded: { peakReservedBytes } });
  });

  it('a cancelled what-if query ends within a run', async () => {
    const { client } = clientOf(await openSession('frag_gpt_varlen'));
    const request = { deviceIndex: 0, settings: [''], limit: 'none', cards: [] } as const;
    const stop = new AbortController();
    const kinds: string[] = [];
    const onProgress = ({ kind }: WhatIfProgress) => {
      kinds.push(kind);
      if (kind === 'running') stop.abort();
    };
    const asked = client.query('whatIf', request, { signal: stop.signal, onProgress });
    await expect(asked).rejects.toSatisfy(isAbortError);
    expect(kinds).toEqual(['recorded', 'running']);
  });

  it('findings come before the check of their detector, and all are in the result', async () => {
    const { client } = clientOf(await openSession('leak_output_list'));
    const reported: string[] = [];
    const findings: Finding[] = [];
    const analysis = await client.query(
      'findings',
      { deviceIndex: 0 },
      {
        onProgress: (progress) => {
          if (progress.kind === 'finding') findings.push(progress.finding);
          reported.push(
            progress.kind === 'finding'
              ? progress.finding.detector
              : `checked ${progress.check.detector}`,
          );
        },
      },
    );
    for (const { detector } of analysis.findings) {
      expect(reported.indexOf(detector)).toBeLessThan(reported.indexOf(`checked ${detector}`));
    }
    expect(new Set(analysis.findings)).toEqual(new Set(findings));
    expect(reported.filter((one) => one.startsWith('checked'))).toHaveLength(
      analysis.checks.length,
    );
  });

  it('keeps the session’s own tables whole', async () => {
    const session = await openSession('train_gpt_small');
    const before = await session.query('minimap', { deviceIndex: 0, axis: 'event', width: 64 });
    await clientOf(session).client.query('findings', { deviceIndex: 0 });
    expect(await session.query('minimap', { deviceIndex: 0, axis: 'event', width: 64 })).toEqual(
      before,
    );
  });

  it('asks for each device’s own copy', async () => {
    const { client } = clientOf(await openSession('two_devices'));
    const contexts = contextsOf(loadCapture('two_devices.pickle.gz'));
    for (const [deviceIndex, context] of contexts.entries()) {
      expect(await client.query('findings', { deviceIndex })).toEqual(await analysisOf(context));
    }
    await expect(client.query('findings', { deviceIndex: 7 })).rejects.toThrow(
      /No device is open at position 7/,
    );
    expect((await client.query('findings', { deviceIndex: 0 })).checks).toHaveLength(
      DETECTOR_IDS.length,
    );
  });
});

describe('the worker', () => {
  it('starts with the first query and ends after the last answer', async () => {
    useFakeTimeouts();
    const { client, workers } = clientOf(await openSession('train_gpt_small'));
    expect(workers).toHaveLength(0);
    await Promise.all([
      client.query('findings', { deviceIndex: 0 }),
      client.query('findings', { deviceIndex: 0 }),
    ]);
    vi.advanceTimersByTime(60_000);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect((await client.query('findings', { deviceIndex: 0 })).checks).toHaveLength(
      DETECTOR_IDS.length,
    );
    expect(workers).toHaveLength(2);
  });

  it('starts when it is held, before any query, and stays until released', async () => {
    useFakeTimeouts();
    const { client, workers } = clientOf(await openSession('train_gpt_small'));
    const release = client.hold();
    expect(workers).toHaveLength(1);
    await client.query('findings', { deviceIndex: 0 });
    vi.advanceTimersByTime(60_000);
    expect(workers[0]?.isTerminated).toBe(false);
    expect(workers).toHaveLength(1);
    release();
    vi.advanceTimersByTime(60_000);
    expect(workers[0]?.isTerminated).toBe(true);
  });

  it('is noticed when it dies, and another one answers the next query', async () => {
    const { client, workers } = clientOf(await openSession('leak_forward_hook'));
    const asked = client.query('findings', { deviceIndex: 0 });
    workers[0]?.crash();
    await expect(asked).rejects.toThrow(LoadError);
    await expect(asked).rejects.toThrow(/analysis has stopped/);
    expect((await client.query('findings', { deviceIndex: 0 })).findings).not.toHaveLength(0);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('ends with the file that it copies from, and starts again with the next one', async () => {
    let closeFile: (error: Error) => void = () => undefined;
    const closed = new Promise<never>((_, reject) => {
      closeFile = reject;
    });
    const session = await openSession('leak_forward_hook');
    const files = [{ attachAnalysis: () => closed }, session];
    const { client, workers } = clientOf(session, {
      session: {
        attachAnalysis: async (request) => files.shift()?.attachAnalysis(request) ?? closed,
      },
    });
    const asked = client.query('findings', { deviceIndex: 0 });
    closeFile(abortError('Another file is open'));
    await expect(asked).rejects.toSatisfy(isAbortError);
    expect((await client.query('findings', { deviceIndex: 0 })).findings).not.toHaveLength(0);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('is of no use without a session', async () => {
    const session = await openSession('train_gpt_small');
    const { client } = clientOf(session, {
      session: { attachAnalysis: () => Promise.reject(new Error('gone')) },
    });
    await expect(client.query('findings', { deviceIndex: 0 })).rejects.toThrow('gone');
  });
});

describe('a user who moves', () => {
  it('makes the analysis wait, and gets the same findings a little later', async () => {
    const session = await openSession('leak_output_list');
    const undisturbed = await clientOf(session).client.query('findings', { deviceIndex: 0 });
    useFakeTimeouts();
    const { client } = clientOf(session);
    let isLong = false;
    let isAnswered = false;
    // By the first report, the quarter second in which the analysis waits for nobody is over.
    const onProgress = () => {
      if (!isLong) vi.advanceTimersByTime(300);
      isLong = true;
      client.yieldToInteraction();
    };
    const answer = client.query('findings', { deviceIndex: 0 }, { onProgress }).finally(() => {
      isAnswered = true;
    });
    while (!isLong) await passMs(0);
    // A movement every 10 ms, for as long as the analysis has to wait.
    for (let ms = 0; ms < 300; ms += 10) {
      client.yieldToInteraction();
      await passMs(10);
      expect(isAnswered).toBe(false);
    }
    while (!isAnswered) await passMs(10);
    expect(await answer).toEqual(undisturbed);
  });
});

it('does not wait for a moving user if it is soon done', async () => {
  const session = await openSession('leak_output_list');
  const undisturbed = await clientOf(session).client.query('findings', { deviceIndex: 0 });
  useFakeTimeouts();
  const { client } = clientOf(session);
  const onProgress = () => client.yieldToInteraction();
  expect(await client.query('findings', { deviceIndex: 0 }, { onProgress })).toEqual(undisturbed);
});

describe('cancelling', () => {
  const idle = createIdleCounter();
  afterEach(() => expect(idle.running).toBe(0));

  it('rejects at once, without affecting the answer to another query', async () => {
    const { client } = clientOf(await openSession('frag_gpt_varlen'), { idle });
    const controller = new AbortController();
    const reported: unknown[] = [];
    const first = client.query(
      'findings',
      { deviceIndex: 0 },
      {
        signal: controller.signal,
        onProgress: (progress) => {
          reported.push(progress);
          controller.abort();
        },
      },
    );
    const second = client.query('findings', { deviceIndex: 0 });
    await expect(first).rejects.toSatisfy(isAbortError);
    expect(reported).toHaveLength(1);
    expect((await second).checks).toHaveLength(DETECTOR_IDS.length);
    expect(reported).toHaveLength(1);
  });

  it('also happens to queries to a closed client', async () => {
    const { client, workers } = clientOf(await openSession('frag_gpt_varlen'), { idle });
    const asked = client.query('findings', { deviceIndex: 0 });
    client.close();
    await expect(asked).rejects.toSatisfy(isAbortError);
    expect(workers[0]?.isTerminated).toBe(true);
  });
});
