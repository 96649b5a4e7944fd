/**
 * Findings of each viewed device, kept while its snapshot is open. A run starts after the first frame is painted and
 * only for the visible device; showing another device stops it. Its worker starts then, too: on two cores, one that
 * starts earlier takes a core from the page's first rendering.
 */

import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Analysis } from '../analysis/findings/analyse.ts';
import { type RankedFinding, rankFindings } from '../analysis/findings/ranked-findings.ts';
import type { Judgement } from '../analysis/verdict/verdict.ts';
import { isAbortError } from '../base/errors.ts';
import { failureOf, type LoadFailure } from '../base/load-error.ts';
import { withinTime } from '../base/task.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { AnalysisClient } from '../worker/analysis/client.ts';
import type { FindingsProgress } from '../worker/protocol.ts';
import type { IdleCounter, Timings } from './page-timings.ts';

const NOTHING = {
  /** 'stopped' means by the user. */
  phase: 'waiting' as 'waiting' | 'running' | 'done' | 'failed' | 'stopped',
  /** Those found so far; complete when done. */
  findings: [] as readonly RankedFinding[],
  checks: [] as Analysis['checks'],
  /** The account and the verdict; undefined until all detectors have run. */
  judgement: undefined as Judgement | undefined,
  /** Set in phase 'failed'. */
  failure: undefined as LoadFailure | undefined,
};
export type FindingsState = Readonly<typeof NOTHING>;

type DeviceFindings = StoreApi<FindingsState>;

export type FindingsStore = ReturnType<typeof createFindingsStore>;

interface Needs {
  readonly analysis: Pick<AnalysisClient, 'query'>;
  readonly idle: Pick<IdleCounter, 'during'>;
  readonly timings: Pick<Timings, 'reached' | 'reach'>;
  /** A view without a timeline never reports a first paint, so the run starts after this time. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 500;

export function createFindingsStore(needs: Needs) {
  const { analysis, idle, timings, timeoutMs = TIMEOUT_MS } = needs;
  const known = new WeakMap<SessionInfo, DeviceFindings[]>();
  const runs = new WeakMap<DeviceFindings, AbortController>();

  /** Returns the same store for the same device of the same snapshot. */
  function of(info: SessionInfo, deviceIndex: number): DeviceFindings {
    const stores = known.get(info) ?? [];
    known.set(info, stores);
    stores[deviceIndex] ??= createStore<FindingsState>(() => NOTHING);
    return stores[deviceIndex];
  }

  async function run(store: DeviceFindings, deviceIndex: number, signal: AbortSignal) {
    store.setState({ ...NOTHING, phase: 'running' });
    try {
      const onProgress = (progress: FindingsProgress) => store.setState(withProgress(progress));
      const found = await analysis.query('findings', { deviceIndex }, { signal, onProgress });
      const { checks, findings, ...judgement } = found;
      store.setState({ phase: 'done', checks, findings: rankFindings(findings), judgement });
      timings.reach('analysed');
    } catch (error) {
      // Opening another file also aborts the run.
      if (!isAbortError(error))
        store.setState({ phase: 'failed', failure: failureOf(error, 'The analysis failed') });
    }
  }

  /** One run per device at a time. Counts as work, so that scripts waiting for an idle page see the findings. */
  async function begin(store: DeviceFindings, deviceIndex: number, wait?: Promise<unknown>) {
    runs.get(store)?.abort();
    const controller = new AbortController();
    runs.set(store, controller);
    await idle.during(async () => {
      if (wait !== undefined) await wait;
      if (!controller.signal.aborted) await run(store, deviceIndex, controller.signal);
    });
  }

  function end(store: DeviceFindings, state: Partial<FindingsState>): void {
    runs.get(store)?.abort();
    const { phase } = store.getState();
    if (phase === 'waiting' || phase === 'running') store.setState(state);
  }

  return {
    of,
    /** Starts the search on the visible device unless it is done. Returns a function that ends it. */
    show(info: SessionInfo, deviceIndex: number): () => void {
      const store = of(info, deviceIndex);
      if (store.getState().phase === 'waiting') {
        void begin(store, deviceIndex, withinTime(timings.reached('painted'), timeoutMs));
      }
      return () => end(store, NOTHING);
    },
    /** Ends a run and keeps its findings. */
    stop: (info: SessionInfo, deviceIndex: number): void =>
      end(of(info, deviceIndex), { phase: 'stopped' }),
    retry: (info: SessionInfo, deviceIndex: number): void =>
      void begin(of(info, deviceIndex), deviceIndex),
  };
}

function withProgress(progress: FindingsProgress): (state: FindingsState) => FindingsState {
  return (state) =>
    progress.kind === 'check'
      ? { ...state, checks: [...state.checks, progress.check] }
      : { ...state, findings: rankFindings([...state.findings, progress.finding]) };
}
