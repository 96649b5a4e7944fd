import { DETECTOR_IDS } from '../../../analysis/findings/detectors.ts';
import { formatCount } from '../../../base/format.ts';
import type { FindingsState } from '../../../state/findings-store.ts';
import { useAnalysis, useDevice } from '../../shared/services.ts';

interface StateProps {
  readonly state: FindingsState;
}

/** How far it is, with a way to stop it and to go on. */
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

/** What stopped it, and a way to begin anew. */
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
