import { describe, expect, it } from 'vitest';
import type { Account } from '../analysis/account/types.ts';
import type { Analysis } from '../analysis/findings/analyse.ts';
import type { Verdict } from '../analysis/verdict/types.ts';
import { LoadError } from '../base/load-error.ts';
import { sessionInfoOf } from '../testing/device-info.ts';
import type { AnalysisQueries, Call, FindingsProgress } from '../worker/protocol.ts';
import { createFindingsStore } from './findings-store.ts';
import { createIdleCounter, createTimings } from './page-timings.ts';

const INFO = sessionInfoOf('x');
const ACCOUNT: Account = {
  moment: { event: 0, why: 'peak' },
  allocatedBytes: 0,
  reservedBytes: 0,
  limitBytes: undefined,
  requestedBytes: undefined,
  roundingBytes: undefined,
  entries: [],
  card: undefined,
};
const VERDICT: Verdict = {
  cause: 'none',
  pattern: undefined,
  severity: 'none',
  bytes: 0,
  tone: 'calm',
  text: 'Fine.',
  brief: 'Fine.',
  isCapped: false,
  also: [],
  lines: [],
  does: '',
  holder: undefined,
  advice: [],
  forecast: undefined,
  finding: undefined,
};
const JUDGEMENT = {
  account: ACCOUNT,
  accountAtEnd: ACCOUNT,
  verdict: VERDICT,
  most: undefined,
  tensors: undefined,
  steps: undefined,
};
const CLEAR = { detector: 'oom', status: 'clear', reason: 'None.' } as const;

/** An analysis that answers on command. */
function setUp(timeoutMs = 10_000) {
  const asked: {
    deviceIndex: number;
    signal: AbortSignal | undefined;
    tell: (progress: FindingsProgress) => void;
    answer: (analysis: Analysis) => void;
    fail: (error: Error) => void;
  }[] = [];
  const idle = createIdleCounter();
  const timings = createTimings();
  const ask: Call<AnalysisQueries> = (_name, { deviceIndex }, { signal, onProgress } = {}) =>
    new Promise((answer, fail) => {
      const tell = onProgress as ((progress: FindingsProgress) => void) | undefined;
      signal?.addEventListener('abort', () => fail(signal.reason));
      asked.push({
        ...{ deviceIndex, signal, fail },
        tell: (progress) => tell?.(progress),
        answer: answer as (analysis: Analysis) => void,
      });
    });
  const keeper = createFindingsStore({
    idle,
    timings,
    timeoutMs,
    analysis: { query: ask },
  });
  timings.start();
  return { asked, idle, keeper, timings };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('findings', () => {
  it('are searched for once the first frame is painted, and the page is not idle until then', async () => {
    const { asked, idle, keeper, timings } = setUp();
    keeper.show(INFO, 0);
    await settled();
    expect(asked).toHaveLength(0);
    expect(idle.running).toBe(1);
    timings.reach('painted');
    await settled();
    expect(asked).toHaveLength(1);
    asked[0]?.tell({ kind: 'check', check: CLEAR });
    expect(keeper.of(INFO, 0).getState()).toMatchObject({ phase: 'running', checks: [CLEAR] });
    expect(keeper.of(INFO, 0).getState().judgement).toBeUndefined();
    asked[0]?.answer({ findings: [], checks: [CLEAR], ...JUDGEMENT });
    await settled();
    expect(keeper.of(INFO, 0).getState()).toMatchObject({ phase: 'done', judgement: JUDGEMENT });
    expect(timings.times().analysed).toBeGreaterThanOrEqual(timings.times().painted ?? Infinity);
    expect(idle.running).toBe(0);
  });

  it('do not wait for a frame that never comes', async () => {
    const { asked, keeper } = setUp(1);
    keeper.show(INFO, 0);
    await expect.poll(() => asked.length).toBe(1);
  });

  it('are searched for once per device, whoever asks', async () => {
    const { asked, keeper, timings } = setUp();
    timings.reach('painted');
    keeper.show(INFO, 0);
    await settled();
    asked[0]?.answer({ findings: [], checks: [], ...JUDGEMENT });
    await settled();
    keeper.show(INFO, 0);
    await settled();
    expect(asked).toHaveLength(1);
  });

  it('of a device that was left start anew on returning', async () => {
    const { asked, keeper, timings } = setUp();
    timings.reach('painted');
    const leave = keeper.show(INFO, 0);
    await settled();
    leave();
    expect(asked[0]?.signal?.aborted).toBe(true);
    asked[0]?.fail(new Error('aborted'));
    keeper.show(INFO, 1);
    keeper.show(INFO, 0);
    await settled();
    expect(asked.map(({ deviceIndex }) => deviceIndex)).toEqual([0, 1, 0]);
    expect(keeper.of(INFO, 0).getState()).toMatchObject({ phase: 'running', failure: undefined });
  });

  it('that failed are reported, and can be tried again', async () => {
    const { asked, idle, keeper, timings } = setUp();
    timings.reach('painted');
    keeper.show(INFO, 0);
    await settled();
    asked[0]?.fail(new LoadError({ code: 'worker-crashed', message: 'It has stopped.' }));
    await settled();
    const store = keeper.of(INFO, 0);
    expect(store.getState()).toMatchObject({
      phase: 'failed',
      failure: { message: 'It has stopped.' },
    });
    expect(timings.times().analysed).toBeUndefined();
    keeper.retry(INFO, 0);
    expect(store.getState()).toMatchObject({ phase: 'running', failure: undefined });
    asked[1]?.answer({ findings: [], checks: [CLEAR], ...JUDGEMENT });
    await settled();
    expect(store.getState().phase).toBe('done');
    expect(idle.running).toBe(0);
  });

  it('can be stopped, keep what was found, and start anew', async () => {
    const { asked, idle, keeper, timings } = setUp();
    timings.reach('painted');
    const leave = keeper.show(INFO, 0);
    await settled();
    asked[0]?.tell({ kind: 'check', check: CLEAR });
    keeper.stop(INFO, 0);
    expect(asked[0]?.signal?.aborted).toBe(true);
    asked[0]?.fail(new Error('aborted'));
    await settled();
    expect(keeper.of(INFO, 0).getState()).toMatchObject({ phase: 'stopped', checks: [CLEAR] });
    expect(idle.running).toBe(0);
    keeper.retry(INFO, 0);
    expect(keeper.of(INFO, 0).getState()).toMatchObject({ phase: 'running', checks: [] });
    leave();
    expect(asked[1]?.signal?.aborted).toBe(true);
  });

  it('can be stopped before the first frame', async () => {
    const { asked, keeper, timings } = setUp();
    keeper.show(INFO, 0);
    keeper.stop(INFO, 0);
    timings.reach('painted');
    await settled();
    expect(asked).toHaveLength(0);
    expect(keeper.of(INFO, 0).getState().phase).toBe('stopped');
  });
});
