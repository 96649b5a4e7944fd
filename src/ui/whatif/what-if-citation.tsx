import './what-if-citation.css';
import { FlaskConical } from 'lucide-react';
import type { DetectorId } from '../../core/findings/types.ts';
import type { DeviceInfo } from '../../core/query/types.ts';
import { CITED_SETTING, CITING_DETECTORS } from '../../core/report/what-if-sentence.ts';
import { useStores } from '../../state/stores.ts';
import { useWhatIfFigure } from './use-what-if-figure.ts';

interface WhatIfCitationProps {
  readonly device: DeviceInfo;
  readonly detector: DetectorId;
  /** All findings are in: the run does not hold any up. */
  readonly isDue: boolean;
}

/** What a finding would have come to under the one setting that mends most; nothing for other findings. */
export function WhatIfCitation({ device, detector, isDue }: WhatIfCitationProps) {
  const { view } = useStores();
  const isCiting = isDue && CITING_DETECTORS.includes(detector);
  const figure = useWhatIfFigure(device, isCiting ? CITED_SETTING : undefined);
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
