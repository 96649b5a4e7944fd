import { useCallback, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { LoadError, type LoadFailure } from '../../../base/load-error.ts';
import {
  type Limit,
  missingSettings,
  type WhatIfResults,
  whatIfStoreOf,
  withProgress,
} from '../../panels/what-if/what-if-results.ts';
import { useDevice } from '../../shared/device-context.ts';
import { useAnalysis } from '../../shared/services.ts';

/** How far it has come. `current`: the setting that is being run. */
export type WhatIfPhase =
  | { readonly kind: 'running'; readonly current: string | undefined; readonly done: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: LoadFailure };

export interface WhatIfRuns {
  readonly known: WhatIfResults;
  readonly phase: WhatIfPhase;
  cancel(): void;
  /** Goes on after a cancel or a failure. */
  resume(): void;
}

const BEGUN: WhatIfPhase = { kind: 'running', current: undefined, done: 0 };

/**
 * Runs what is not known yet of these settings under this limit, also when settings are added.
 * @param settings the same array as long as it holds the same
 */
export function useWhatIfRuns(settings: readonly string[], limit: Limit): WhatIfRuns {
  const { analysis } = useAnalysis();
  const { device } = useDevice();
  const store = whatIfStoreOf(device);
  const known = useStore(store);
  const [phase, setPhase] = useState<WhatIfPhase>(BEGUN);
  const [attempt, setAttempt] = useState(0);
  const [controller, setController] = useState<AbortController>();
  useEffect(() => analysis.hold(), [analysis]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt runs the same again
  useEffect(() => {
    const missing = missingSettings(store.getState(), limit, settings);
    if (missing.length === 0 && store.getState().limits.has(limit)) {
      setPhase({ kind: 'done' });
      return;
    }
    const own = new AbortController();
    let isLatest = true;
    setController(own);
    setPhase(BEGUN);
    const request = { deviceIndex: device.index, settings: missing, limit, cards: true };
    analysis
      .whatIf(request, {
        signal: own.signal,
        onProgress(progress) {
          if (progress.kind !== 'running')
            store.setState((state) => withProgress(state, limit, progress));
          else setPhase({ kind: 'running', current: progress.settings, done: progress.done });
        },
      })
      .then(
        () => isLatest && setPhase({ kind: 'done' }),
        (error: unknown) => {
          if (!isLatest) return;
          if (error instanceof LoadError) setPhase({ kind: 'failed', failure: error.failure });
          else if (own.signal.aborted) setPhase({ kind: 'cancelled' });
          // The worker let go of another snapshot, and of all that was asked of it.
          else setAttempt((count) => count + 1);
        },
      );
    return () => {
      isLatest = false;
      own.abort();
    };
  }, [analysis, store, device, settings, limit, attempt]);
  const cancel = useCallback(() => controller?.abort(), [controller]);
  const resume = useCallback(() => setAttempt((count) => count + 1), []);
  return { known, phase, cancel, resume };
}
