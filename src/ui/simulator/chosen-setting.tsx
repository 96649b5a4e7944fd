import { formatBytes, formatPercent } from '../../core/base/format.ts';
import { whatIfSentence } from '../../core/report/what-if-citation.ts';
import { environmentLines } from '../../core/simulator/presets.ts';
import type { RecordedRun } from '../../core/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../core/simulator/types.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { settingName } from './labels.ts';

interface ChosenSettingProps {
  readonly recorded: RecordedRun;
  readonly result: WhatIfResult;
  readonly isBest: boolean;
}

/** The chosen setting in a sentence, and the line that turns it on. */
export function ChosenSetting({ recorded, result, isBest }: ChosenSettingProps) {
  const { settings, ooms } = result;
  const [line, olderLine] = environmentLines(settings);
  return (
    <section className="whatif-chosen" aria-label="Chosen setting">
      <p className="whatif-headline" data-tone={ooms.length > 0 ? 'danger' : undefined}>
        <strong>{settingName(settings)}</strong> {whatIfSentence(result, recorded)}.{' '}
        <span className="dim">{aside(recorded, result, isBest)}</span>
      </p>
      <div className="whatif-lines">
        <EnvironmentLine line={line} note="from PyTorch 2.9 on" />
        <EnvironmentLine line={olderLine} note="the older name, which every version reads" />
      </div>
    </section>
  );
}

function aside(recorded: RecordedRun, result: WhatIfResult, isBest: boolean): string {
  if (result.ooms.length > 0) return '';
  const saved = recorded.peakReservedBytes - result.peakReservedBytes;
  const share = recorded.peakReservedBytes === 0 ? 0 : saved / recorded.peakReservedBytes;
  if (saved <= 0) return isBest ? 'No setting that was tried reserves less.' : '';
  const saving = `${formatBytes(saved)} less, ${formatPercent(share)}`;
  return isBest ? `${saving}: the best of those tried.` : `${saving}.`;
}

function EnvironmentLine({ line, note }: { readonly line: string; readonly note: string }) {
  return (
    <div className="whatif-line">
      <CopyButton text={line} label={line} className="whatif-copy">
        <code>{line}</code>
      </CopyButton>
      <span className="dim">{note}</span>
    </div>
  );
}
