import { Play, X } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { formatCount } from '../../../base/format.ts';
import { LoadError, type LoadFailure } from '../../../base/load-error.ts';
import {
  type Limit,
  missingSettings,
  type WhatIfResults,
  whatIfStoreOf,
  withProgress,
} from '../../panels/what-if/what-if-results.ts';
import { useAnalysis, useDevice } from '../../shared/services.ts';
import type { SettingRow } from './setting-rows.ts';
import { settingName } from './setting-rows.ts';

/** How far it has come. `current`: the setting that is being run. */
type WhatIfPhase =
  | { readonly kind: 'running'; readonly current: string | undefined; readonly done: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: LoadFailure };

interface WhatIfRuns {
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

interface RunStatusProps {
  readonly phase: WhatIfPhase;
  readonly rows: readonly SettingRow[];
  readonly onCancel: () => void;
  readonly onResume: () => void;
}

/** How far the runs are, and how to stop them or to go on. Nothing once all is done. */
export function RunStatus({ phase, rows, onCancel, onResume }: RunStatusProps) {
  const run = rows.filter(({ result }) => result !== undefined).length;
  const count = `${formatCount(run)} of ${formatCount(rows.length)} settings`;
  switch (phase.kind) {
    case 'done':
      return undefined;
    case 'running': {
      const isSearching = run === rows.length;
      const name = phase.current === undefined ? undefined : settingName(phase.current);
      return (
        <div className="row whatif-status">
          <progress max={1} value={phase.done} aria-label="Runs" />
          <span className="whatif-doing">
            {isSearching ? 'All settings tried. Finding the smallest GPU for each' : `Run ${count}`}
            {name !== undefined && `: ${name}`}
          </span>
          <button type="button" className="button" onClick={onCancel}>
            <X size={13} aria-hidden />
            Cancel
          </button>
        </div>
      );
    }
    case 'cancelled':
      return (
        <div className="row whatif-status" role="status">
          <span className="whatif-doing">
            Cancelled: {count} tried
            {run === rows.length && '; some smallest GPUs are unknown'}.
          </span>
          <ResumeButton label="Try the rest" onResume={onResume} />
        </div>
      );
    case 'failed':
      return (
        <div className="row whatif-status" role="alert">
          <span className="whatif-doing">
            {phase.failure.message} {phase.failure.advice}
          </span>
          <ResumeButton label="Try again" onResume={onResume} />
        </div>
      );
  }
}

function ResumeButton({
  label,
  onResume,
}: {
  readonly label: string;
  readonly onResume: () => void;
}) {
  return (
    <button type="button" className="button" onClick={onResume}>
      <Play size={13} aria-hidden />
      {label}
    </button>
  );
}
