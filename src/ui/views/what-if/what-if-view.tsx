import './what-if.css';
import { useMemo, useState } from 'react';
import { useStore } from 'zustand';
import { confText } from '../../../allocator/replay/rounding.ts';
import { parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';
import { needsLimit, PRESETS, recommended } from '../../../allocator/simulator/presets.ts';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { Limit } from '../../../allocator/simulator/what-if-runs.ts';
import { formatBytes } from '../../../base/format.ts';
import type { DeviceInfo, SessionInfo } from '../../../device/model/device-info.ts';
import { needsNoSetting } from '../../../device/model/main-device.ts';
import { whyNotSimulated } from '../../../device/model/vendors.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { hasRun, settingRows, whatIfStoreOf } from '../../panels/what-if/what-if-runs.ts';
import { Blank } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { ChosenSetting, Details, NothingHelps, NothingToChange } from './compared-runs.tsx';
import { LimitSelect, SettingForm } from './run-form.tsx';
import { RunPlot } from './run-plot.tsx';
import { RunStatus, useWhatIfRuns } from './runs.tsx';
import { SettingsTable } from './settings-table.tsx';

/** The recorded requests, replayed under other allocator settings, the best first. */
export function View() {
  const { device } = useDevice();
  const reason = unavailableReason(device);
  if (reason === undefined) return <Runs />;
  return <Blank title="What if is not available for this device" text={reason} />;
}

function unavailableReason(device: DeviceInfo): string | undefined {
  if (device.kind === 'host') {
    return 'This is pinned host memory, whose allocator has none of these settings. Choose another device above.';
  }
  const unknown = whyNotSimulated(device);
  if (unknown !== undefined || device.events > 0) return unknown;
  return 'This device has no recorded history, so there is nothing to simulate. Call torch.cuda.memory._record_memory_history() early in your program and take another snapshot.';
}

function Runs() {
  const { info, device } = useDevice();
  const { view } = useStores();
  const setting = useView((state) => state.setting);
  const limit = useView((state) => state.limit) ?? 'recorded';
  const [tried, setTried] = useState<readonly string[]>([]);
  const [isOpen, setIsOpen] = useState(false);
  const asked = parseAllocConf(setting ?? '');
  const recordedSetting = recordedSettingOf(info);
  const isLimited = useIsLimited(limit);
  const presets = PRESETS.filter((text) => isLimited || !needsLimit(text));
  const settings = useSettings([...presets, recordedSetting, ...tried, asked.ok ? asked.text : '']);
  const { known, phase, cancel, resume } = useWhatIfRuns(settings, limit);
  const rows = settingRows(known, limit, settings);
  const wanted = setting !== undefined && asked.ok ? asked.text : undefined;
  const { recorded } = known;
  const memory = recorded === undefined ? '' : memoryText(limit, recorded);
  const runs = rows.filter(hasRun).map((row) => ({ ...row.result, card: row.card }));
  const first = recorded && recommended(recorded, runs)?.settings;
  const chosen = rows.find((row) => row.settings === (wanted ?? first));
  const run = chosen && hasRun(chosen) ? chosen : undefined;
  const isFine =
    typeof limit === 'string' && recorded !== undefined && needsNoSetting(recorded, device.peaks);
  const same = rows.find((row) => row.settings === recordedSetting);
  const unchangedBytes =
    typeof limit === 'number' && same && hasRun(same) && same.result.ooms.length === 0
      ? same.result.peakReservedBytes
      : undefined;
  const isDone = phase.kind === 'done';
  const isFolded =
    isFine && setting === undefined && (first ?? recordedSetting) === recordedSetting;
  const recordedCard = known.cards.get(recordedSetting);
  const choose = (text: string) => {
    setTried((before) => (before.includes(text) ? before : [...before, text]));
    // A click on the radio button is also a click on its row.
    if (view.getState().view.setting !== text) view.commit({ setting: text });
  };
  return (
    <section className="view whatif-view" aria-label="What if">
      <div className="row whatif-toolbar">
        <LimitSelect
          limit={limit}
          recorded={recorded?.limit}
          onChange={(next) => view.commit({ limit: next === 'recorded' ? undefined : next })}
        />
        <SettingForm unreadable={asked.ok ? undefined : asked.text} onTry={choose} />
      </div>
      <RunStatus phase={phase} rows={rows} onCancel={cancel} onResume={resume} />
      {recorded !== undefined && (
        <div className="whatif-content column">
          {isFolded ? (
            <NothingToChange isDone={isDone} isOpen={isOpen} onToggle={() => setIsOpen(!isOpen)} />
          ) : (
            run && (
              <ChosenSetting
                recorded={recorded}
                result={run.result}
                isFirst={isDone && run.settings === first}
                isOptional={isFine}
                unchangedBytes={unchangedBytes}
              />
            )
          )}
          {isDone && first === undefined && run === undefined && (
            <NothingHelps
              memory={memory}
              leastBytes={limit === 'recorded' ? recorded.limit?.likelyBytes : undefined}
            />
          )}
          {(!isFolded || isOpen) && (
            <>
              <SettingsTable
                recorded={recorded}
                recordedCard={recordedCard}
                rows={rows}
                chosen={chosen?.settings}
                memory={memory}
                tried={tried}
                onChoose={choose}
              />
              <RunPlot recorded={recorded} result={run?.result} />
              {run && <Details recorded={recorded} recordedCard={recordedCard} run={run} />}
            </>
          )}
        </div>
      )}
    </section>
  );
}

function memoryText(limit: Limit, recorded: RecordedRun): string {
  if (typeof limit === 'number') return formatBytes(limit);
  const bytes = limit === 'recorded' ? recorded.limit?.likelyBytes : undefined;
  return bytes === undefined
    ? 'no limit'
    : `this process's limit of at least ${formatBytes(bytes)}`;
}

/** A recorded limit is known once the first run begins. */
function useIsLimited(limit: Limit): boolean {
  const { device } = useDevice();
  const recorded = useStore(whatIfStoreOf(device), (known) => known.recorded);
  return limit === 'recorded' ? recorded?.limit !== undefined : limit !== 'none';
}

/** Each setting once. The array stays the same while its content does, so choosing one runs nothing. */
function useSettings(settings: readonly string[]): readonly string[] {
  const key = [...new Set(settings)].join('\n');
  return useMemo(() => key.split('\n'), [key]);
}

/** '' if the file has none, or an invalid one: then the recorded run has no row of its own. */
function recordedSettingOf({ settings }: SessionInfo): string {
  const parsed = parseAllocConf(confText(settings));
  return parsed.ok ? parsed.text : '';
}
