import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { isAbortError } from '../../core/base/errors.ts';
import { LoadError } from '../../core/base/load-error.ts';
import { analyse } from '../../core/findings/analyse.ts';
import type { Finding } from '../../core/findings/detectors.ts';
import { captureBytes, loadCapture, truthOf } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { blobSource } from '../blob-source.ts';
import { webPlatform } from '../gunzip.ts';
import { createIdleCounter } from '../instrumentation.ts';
import type { SessionApi } from '../protocol.ts';
import { createSession } from '../session.ts';
import { type AnalysisClient, type AnalysisClientOptions, createAnalysisClient } from './client.ts';
import { serveAnalysis } from './serve-analysis.ts';

async function openSession(name: string): Promise<SessionApi> {
  const session = createSession({
    platform: webPlatform,
    clock: nodeClock,
    sourceOf: async (source) => {
      if (source.kind === 'url') throw new Error('These tests open no URL');
      return blobSource(source.blob, source.name);
    },
  });
  const blob = new Blob([new Uint8Array(captureBytes(`${name}.pickle.gz`))]);
  await session.open({ kind: 'blob', blob, name }, {});
  return session;
}

/** A worker that runs in this thread; `crash` is what the browser does when a real one dies. */
class FakeWorker {
  readonly started: FakeWorker[];
  isTerminated = false;
  readonly #listeners = new Map<string, (event: Event) => void>();
  #ports: readonly MessagePort[] = [];

  constructor(started: FakeWorker[]) {
    this.started = started;
    started.push(this);
  }

  postMessage = (_message: unknown, [page, session]: MessagePort[]): void => {
    if (page === undefined || session === undefined) throw new Error('Two ports are needed');
    this.#ports = [page, session];
    serveAnalysis(page, session, nodeClock);
  };
  addEventListener = (type: string, listener: (event: Event) => void): void => {
    this.#listeners.set(type, listener);
  };
  terminate = (): void => {
    this.isTerminated = true;
    for (const port of this.#ports) port.close();
  };
  crash(): void {
    this.#listeners.get('error')?.(new Event('error'));
  }
}

interface Analysed {
  readonly client: AnalysisClient;
  readonly workers: readonly FakeWorker[];
}

function clientOf(session: SessionApi, options: Partial<AnalysisClientOptions> = {}): Analysed {
  const workers: FakeWorker[] = [];
  const client = createAnalysisClient({
    attachAnalysis: (port) => session.attachAnalysis({ port }),
    createWorker: () => new FakeWorker(workers) as unknown as Worker,
    ...options,
  });
  onTestFinished(() => client.forget());
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
  ])('findings in %s are those that analyse() finds', async (name) => {
    const { client } = clientOf(await openSession(name));
    const [context] = contextsOf(loadCapture(`${name}.pickle.gz`));
    expect(await client.findings({ deviceIndex: 0 })).toEqual(await analyse(context));
  });

  it('what-if runs too', async () => {
    const { client } = clientOf(await openSession('oom_fragmented'));
    const request = { deviceIndex: 0, settings: [''], limit: 'none', cards: false } as const;
    const { recorded, cases } = await client.whatIf(request);
    const { stats } = truthOf('oom_fragmented.pickle.gz');
    expect(recorded.run.peakReservedBytes).toBe(stats['0']?.['reserved_bytes.all.peak']);
    expect(cases).toMatchObject([{ settings: '' }]);
  });

  it('findings come before the check of their detector, and all are in the result', async () => {
    const { client } = clientOf(await openSession('leak_output_list'));
    const reported: string[] = [];
    const findings: Finding[] = [];
    const analysis = await client.findings(
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
    const before = await session.minimap({ deviceIndex: 0, axis: 'event', width: 64 });
    await clientOf(session).client.findings({ deviceIndex: 0 });
    expect(await session.minimap({ deviceIndex: 0, axis: 'event', width: 64 })).toEqual(before);
  });

  it('asks for each device’s own copy', async () => {
    const { client } = clientOf(await openSession('two_devices'));
    const contexts = contextsOf(loadCapture('two_devices.pickle.gz'));
    for (const [deviceIndex, context] of contexts.entries()) {
      expect(await client.findings({ deviceIndex })).toEqual(await analyse(context));
    }
    await expect(client.findings({ deviceIndex: 7 })).rejects.toThrow(/no device at position 7/);
    expect((await client.findings({ deviceIndex: 0 })).checks).toHaveLength(8);
  });
});

describe('the worker', () => {
  it('is made for the first question and ended after the last answer', async () => {
    const { client, workers } = clientOf(await openSession('train_gpt_small'), {
      idleTimeoutMs: 0,
    });
    expect(workers).toHaveLength(0);
    await Promise.all([client.findings({ deviceIndex: 0 }), client.findings({ deviceIndex: 0 })]);
    await expect.poll(() => workers.map(({ isTerminated }) => isTerminated)).toEqual([true]);
    expect((await client.findings({ deviceIndex: 0 })).checks).toHaveLength(8);
    expect(workers).toHaveLength(2);
  });

  it('stays while it is held', async () => {
    const { client, workers } = clientOf(await openSession('train_gpt_small'), {
      idleTimeoutMs: 0,
    });
    const release = client.hold();
    await client.findings({ deviceIndex: 0 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(workers[0]?.isTerminated).toBe(false);
    release();
    await expect.poll(() => workers[0]?.isTerminated).toBe(true);
  });

  it('is heard when it dies, and another one answers the next question', async () => {
    const { client, workers } = clientOf(await openSession('leak_forward_hook'));
    const asked = client.findings({ deviceIndex: 0 });
    workers[0]?.crash();
    await expect(asked).rejects.toThrow(LoadError);
    await expect(asked).rejects.toThrow(/analysis has stopped/);
    expect((await client.findings({ deviceIndex: 0 })).findings).not.toHaveLength(0);
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false]);
  });

  it('is of no use without a session', async () => {
    const session = await openSession('train_gpt_small');
    const { client } = clientOf(session, {
      attachAnalysis: () => Promise.reject(new Error('gone')),
    });
    await expect(client.findings({ deviceIndex: 0 })).rejects.toThrow('gone');
  });
});

describe('a user who moves', () => {
  it('is waited for, and gets the same findings a little later', async () => {
    const { client } = clientOf(await openSession('leak_output_list'));
    const undisturbed = await client.findings({ deviceIndex: 0 });
    let movements = 0;
    const moving = setInterval(() => {
      movements++;
      client.yieldToInteraction();
    }, 10);
    const fromMs = performance.now();
    const answer = client.findings({ deviceIndex: 0 });
    client.yieldToInteraction();
    setTimeout(() => clearInterval(moving), 300);
    expect(await answer).toEqual(undisturbed);
    expect(performance.now() - fromMs).toBeGreaterThan(300);
    expect(movements).toBeGreaterThan(1);
  });
});

describe('cancelling', () => {
  const idle = createIdleCounter();
  afterEach(() => expect(idle.running).toBe(0));

  it('rejects at once, and the answer of another question is not touched', async () => {
    const { client } = clientOf(await openSession('frag_gpt_varlen'), { idle });
    const controller = new AbortController();
    const reported: unknown[] = [];
    const first = client.findings(
      { deviceIndex: 0 },
      {
        signal: controller.signal,
        onProgress: (progress) => {
          reported.push(progress);
          controller.abort();
        },
      },
    );
    const second = client.findings({ deviceIndex: 0 });
    await expect(first).rejects.toSatisfy(isAbortError);
    expect(reported).toHaveLength(1);
    expect((await second).checks).toHaveLength(8);
    expect(reported).toHaveLength(1);
  });

  it('is what becomes of questions about a snapshot that is no longer open', async () => {
    const { client, workers } = clientOf(await openSession('frag_gpt_varlen'), { idle });
    const asked = client.findings({ deviceIndex: 0 });
    client.forget();
    await expect(asked).rejects.toSatisfy(isAbortError);
    expect(workers[0]?.isTerminated).toBe(true);
  });
});
