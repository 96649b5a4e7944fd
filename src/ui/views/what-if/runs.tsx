import { Play, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { limitOfCard } from '../../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { Confidence, WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import type { Limit } from '../../../allocator/simulator/what-if-runs.ts';
import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import { LoadError, type LoadFailure } from '../../../base/load-error.ts';
import { failureText, oomCountText } from '../../../output/report/what-if-citation.ts';
import { runMissing, type SettingRow, whatIfStoreOf } from '../../panels/what-if/what-if-runs.ts';
import { Button } from '../../shared/buttons.tsx';
import { useAnalysis, useDevice } from '../../shared/services.ts';

/** `current` is the setting that is being run. */
type WhatIfPhase =
  | { readonly kind: 'running'; readonly current: string | undefined; readonly done: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: LoadFailure };

const BEGUN: WhatIfPhase = { kind: 'running', current: undefined, done: 0 };

/**
 * Runs those of these settings that have not been run under this limit, also when settings are added.
 * `cancel` stops the runs; `resume` continues after that or after a failure.
 * @param settings the same array while its content is the same
 */
export function useWhatIfRuns(settings: readonly string[], limit: Limit) {
  const { analysis } = useAnalysis();
  const { device } = useDevice();
  const known = useStore(whatIfStoreOf(device));
  const [phase, setPhase] = useState<WhatIfPhase>(BEGUN);
  const [attempt, setAttempt] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => analysis.hold(), [analysis]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt runs the same again
  useEffect(() => {
    const own = new AbortController();
    const { signal } = own;
    let isLatest = true;
    running.current = own;
    setPhase(BEGUN);
    const onRunning = ({ settings: current, done }: { settings: string; done: number }) =>
      setPhase({ kind: 'running', current, done });
    runMissing(analysis, device, settings, { limit, hasCards: true, signal, onRunning }).then(
      () => isLatest && setPhase({ kind: 'done' }),
      (error: unknown) => {
        if (!isLatest) return;
        if (error instanceof LoadError) setPhase({ kind: 'failed', failure: error.failure });
        else if (signal.aborted) setPhase({ kind: 'cancelled' });
        // The worker dropped its snapshot for another one, and with it this request.
        else setAttempt((count) => count + 1);
      },
    );
    return () => {
      isLatest = false;
      own.abort();
    };
  }, [analysis, device, settings, limit, attempt]);
  const cancel = () => running.current?.abort();
  const resume = () => setAttempt((count) => count + 1);
  return { known, phase, cancel, resume };
}

interface RunStatusProps {
  readonly phase: WhatIfPhase;
  readonly rows: readonly SettingRow[];
  readonly onCancel: () => void;
  readonly onResume: () => void;
}

/** The progress of the runs, and buttons to stop or resume. Nothing once all are done. */
export function RunStatus({ phase, rows, onCancel, onResume }: RunStatusProps) {
  if (phase.kind === 'done') return undefined;
  const isRunning = phase.kind === 'running';
  const role = { running: undefined, cancelled: 'status', failed: 'alert' }[phase.kind];
  return (
    <div className="row whatif-status" role={role}>
      {isRunning && <progress max={1} value={phase.done} aria-label="Runs" />}
      <span className="whatif-doing">{statusText(phase, rows)}</span>
      <Button icon={isRunning ? X : Play} onClick={isRunning ? onCancel : onResume}>
        {{ running: 'Cancel', cancelled: 'Try the rest', failed: 'Try again' }[phase.kind]}
      </Button>
    </div>
  );
}

function statusText(
  phase: Exclude<WhatIfPhase, { kind: 'done' }>,
  rows: readonly SettingRow[],
): string {
  const run = rows.filter(({ result }) => result !== undefined).length;
  const count = `${formatCount(run)} of ${formatCount(rows.length)} settings`;
  const hasAll = run === rows.length;
  switch (phase.kind) {
    case 'running': {
      const name = phase.current === undefined ? '' : `: ${settingName(phase.current)}`;
      return `${hasAll ? 'All settings tried. Finding the smallest GPU for each' : `Run ${count}`}${name}`;
    }
    case 'cancelled':
      return `Cancelled: ${count} tried${hasAll ? '; some smallest GPUs are unknown' : ''}.`;
    case 'failed':
      return `${phase.failure.message} ${phase.failure.advice}`;
  }
}

export function settingName(settings: string): string {
  return settings === '' ? 'Default settings' : settings;
}

export function cardText({ gib, isUnknown }: CardFit): string {
  if (isUnknown) return 'can’t tell';
  return gib === undefined ? 'none' : `${gib} GiB`;
}

export function cardTitle(card: CardFit, recorded: RecordedRun): string {
  const { gib, retries, isUnknown } = card;
  if (isUnknown)
    return `Can’t tell: the recorded run ran out of memory at event ${formatCount(recorded.failedAt ?? 0)}, and what came next is not in the recording`;
  if (gib === undefined) return 'This needs more memory than any common GPU has';
  const left = `A GPU with ${gib} GiB leaves ${formatBytes(limitOfCard(gib))} for PyTorch, enough for all recorded requests`;
  if (slowText(card, recorded) === undefined) return left;
  const added = addedCalls(card, recorded);
  const calls = added > 0 ? `+${plural(added, 'call')} to the driver beside the recorded run` : '';
  const flushes = `PyTorch would release its whole cache ${plural(retries, 'time')}`;
  const why = [...(retries > 0 ? [flushes] : []), ...(calls === '' ? [] : [calls])];
  return `${left}, but slow: there ${why.join(', with ')}`;
}

/** Of the recorded run's calls to the driver, each of which stalls the program. */
const MANY_CALLS = 4;
const LEAST_ADDED = 256;

/** 'slow: 5 retries there', 'slow: +1,116 calls there'; undefined if it is about as fast as the recorded run. */
export function slowText(card: CardFit, recorded: RecordedRun): string | undefined {
  if (card.retries > 0) return `slow: ${plural(card.retries, 'retry', 'retries')} there`;
  const added = addedCalls(card, recorded);
  const own = card.calls - added;
  const areMany = added >= LEAST_ADDED && card.calls >= MANY_CALLS * own;
  return areMany ? `slow: +${plural(added, 'call')} there` : undefined;
}

/** As PyTorch counts them in num_device_alloc: a map of several pages is one. */
export const callsText = ({ deviceAllocs, deviceFrees }: RecordedRun | WhatIfResult): string =>
  `for the driver: ${formatCount(deviceAllocs)} cudaMalloc or maps of pages + ${formatCount(deviceFrees)} cudaFree or unmaps`;

/** What a small card costs in time, beside the flushes themselves: calls to the driver; negative if there are fewer. */
const addedCalls = ({ calls }: CardFit, recorded: RecordedRun): number =>
  calls - recorded.deviceAllocs - recorded.deviceFrees;

export function oomsOf({ ooms }: RecordedRun | WhatIfResult) {
  if (typeof ooms === 'number') return { count: ooms, text: formatCount(ooms), title: undefined };
  const last = ooms.at(-1);
  return {
    count: ooms.length,
    text: oomCountText(ooms),
    title: last && `Out of memory ${failureText(last)}`,
  };
}

export const CONFIDENCE_TEXT: Readonly<Record<Confidence, string>> = {
  high: "The allocator's rules alone decide the result.",
  medium: 'The peaks may shift with facts that the trace does not record.',
  low: 'A run under other settings would have requested other allocations.',
};
