import './what-if-citation.css';
import { FlaskConical } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import type { Confidence } from '../../../allocator/simulator/types.ts';
import type { Finding } from '../../../analysis/findings/detectors.ts';
import {
  CITED_SETTING,
  isCiting,
  whatIfSentence,
} from '../../../output/report/what-if-citation.ts';
import { useStores } from '../../../state/stores.ts';
import { useAnalysis, useDevice } from '../../shared/services.ts';
import { type Limit, resultOf, whatIfStoreOf, withProgress } from './what-if-results.ts';

interface WhatIfCitationProps {
  readonly finding: Pick<Finding, 'detector' | 'kind'>;
  /** All findings are in, so the run delays none. */
  readonly isDue: boolean;
}

/** The simulated peak under the best setting; nothing for findings that don't cite one. */
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
          onClick={() => view.commit({ view: 'what-if', setting: figure.setting })}
        >
          Compare settings
        </button>
      </span>
    </p>
  );
}

const LIMIT: Limit = 'recorded';

export interface WhatIfFigure {
  readonly setting: string;
  readonly recordedBytes: number;
  readonly neededBytes: number;
  readonly confidence: Confidence;
  /** Follows the setting's name: 'would have needed 5.44 GiB instead of 15.86 GiB'. */
  readonly sentence: string;
}

/**
 * What a setting would have needed, for a finding to quote. Undefined until it has been run, and if it can't be:
 * without a trace, or when the worker fails (the what-if view reports that).
 * @param setting undefined runs nothing
 */
function useWhatIfFigure(setting: string | undefined): WhatIfFigure | undefined {
  const { analysis } = useAnalysis();
  const { device } = useDevice();
  const store = whatIfStoreOf(device);
  const known = useStore(store);
  const { recorded } = known;
  const [hasFailed, setHasFailed] = useState(false);
  const canRun = device.kind === 'cuda' && device.events > 0;
  const result = setting === undefined ? undefined : resultOf(known, LIMIT, setting);
  const isWanted = canRun && setting !== undefined && result === undefined && !hasFailed;
  useEffect(() => {
    if (!isWanted || setting === undefined) return;
    const controller = new AbortController();
    const request = {
      deviceIndex: device.index,
      settings: [setting],
      limit: LIMIT,
      cards: false,
    } as const;
    analysis
      .query('whatIf', request, {
        signal: controller.signal,
        onProgress(progress) {
          if (progress.kind !== 'running')
            store.setState((state) => withProgress(state, LIMIT, progress));
        },
      })
      .catch(() => setHasFailed(!controller.signal.aborted));
    return () => controller.abort();
  }, [analysis, store, device, setting, isWanted]);
  if (setting === undefined || recorded === undefined || result === undefined) return undefined;
  return {
    setting,
    recordedBytes: recorded.run.peakReservedBytes,
    neededBytes: result.peakReservedBytes,
    confidence: result.confidence,
    sentence: whatIfSentence(result, recorded.run),
  };
}
