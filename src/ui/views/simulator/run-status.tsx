import { Play, X } from 'lucide-react';
import { formatCount } from '../../../base/format.ts';
import { settingName } from './labels.ts';
import type { SettingRow } from './setting-rows.ts';
import type { WhatIfPhase } from './use-what-if-runs.ts';

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
