import './what-if-citation.css';
import { FlaskConical } from 'lucide-react';
import type { Finding } from '../../core/findings/detectors.ts';
import { CITED_SETTING, isCiting } from '../../core/report/what-if-citation.ts';
import { useStores } from '../../state/stores.ts';
import { useWhatIfFigure } from './use-what-if-figure.ts';

interface WhatIfCitationProps {
  readonly finding: Pick<Finding, 'detector' | 'kind'>;
  /** All findings are in: the run does not hold any up. */
  readonly isDue: boolean;
}

/** What a finding would have come to under the one setting that mends most; nothing for other findings. */
export function WhatIfCitation({ finding, isDue }: WhatIfCitationProps) {
  const { view } = useStores();
  const figure = useWhatIfFigure(isDue && isCiting(finding) ? CITED_SETTING : undefined);
  if (figure === undefined || figure.neededBytes === figure.recordedBytes) return undefined;
  return (
    <p className="what-if-citation">
      <FlaskConical size={14} aria-hidden />
      <span>
        <code>{figure.setting}</code> {figure.sentence}.{' '}
        <button
          type="button"
          className="link"
          onClick={() => view.commit({ view: 'whatif', setting: figure.setting })}
        >
          Compare settings
        </button>
      </span>
    </p>
  );
}
