import { Check as CheckMark, CircleHelp, type LucideIcon, Search } from 'lucide-react';
import { type Check, DETECTOR_IDS, detectorOf } from '../../../analysis/findings/detectors.ts';
import { formatCount, plural, sentenceCase } from '../../../base/format.ts';
import type { FindingsState } from '../../../state/findings-store.ts';
import { useAnalysis, useDevice } from '../../shared/services.ts';

interface StateProps {
  readonly state: FindingsState;
}

/** The progress, with buttons to stop and resume. */
export function Progress({ state: { phase, checks } }: StateProps) {
  const { info, device } = useDevice();
  const { findings } = useAnalysis();
  const isStopped = phase === 'stopped';
  const act = () =>
    isStopped ? findings.retry(info, device.index) : findings.stop(info, device.index);
  return (
    <div className="findings-progress">
      <progress max={DETECTOR_IDS.length} value={checks.length} aria-label="Checks done" />
      <span className="dim">
        {isStopped && 'Stopped after '}
        {formatCount(checks.length)} of {DETECTOR_IDS.length} checks
      </span>
      <button type="button" className="button" onClick={act}>
        {isStopped ? 'Check all' : 'Stop'}
      </button>
    </div>
  );
}

/** What stopped it, and a button to try again. */
export function Failed({ state: { failure } }: StateProps) {
  const { info, device } = useDevice();
  const { findings } = useAnalysis();
  return (
    <div className="verdict" data-tone="severe" role="alert">
      <div>
        <p className="verdict-text">{failure?.message}</p>
        <p>{failure?.advice}</p>
        <button type="button" className="button" onClick={() => findings.retry(info, device.index)}>
          Try again
        </button>
      </div>
    </div>
  );
}

interface MissingProps {
  readonly state: FindingsState;
  readonly wanted: string | undefined;
}

/** A link may name a finding of another recording. */
export function Missing({ state: { phase, findings }, wanted }: MissingProps) {
  const isMissing =
    phase === 'done' && wanted !== undefined && findings.every(({ id }) => id !== wanted);
  if (!isMissing) return undefined;
  return (
    <p className="finding-missing dim">
      The link shows a finding that this snapshot does not have: <code>{wanted}</code>
    </p>
  );
}

const STATES: Readonly<
  Record<Check['status'], { readonly word: string; readonly icon: LucideIcon }>
> = {
  found: { word: 'Found', icon: Search },
  clear: { word: 'Clear', icon: CheckMark },
  'cannot-tell': { word: "Can't tell", icon: CircleHelp },
};

export function CheckList({ checks }: { readonly checks: readonly Check[] }) {
  if (checks.length === 0) return undefined;
  return (
    <details className="checks">
      <summary>
        What was checked <span className="dim small">{tallyOf(checks)}</span>
      </summary>
      <ul aria-label="Checks">
        {checks.map(({ detector, status, reason }) => {
          const { word, icon: Icon } = STATES[status];
          return (
            <li key={detector} className="check">
              <Icon size={14} aria-hidden />
              <div>
                <p>
                  <span>{sentenceCase(detectorOf({ detector }).about)}</span>
                  <span className="check-state dim small">{word}</span>
                </p>
                <p className="dim small">{sentenceCase(reason)}</p>
              </div>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** '7 checks: 5 clear, 2 can't tell' */
function tallyOf(checks: readonly Check[]): string {
  const counts = Object.entries(STATES).flatMap(([status, { word }]) => {
    const count = checks.filter((check) => check.status === status).length;
    return count === 0 ? [] : [`${count} ${word.toLowerCase()}`];
  });
  return `${plural(checks.length, 'check')}: ${counts.join(', ')}`;
}
