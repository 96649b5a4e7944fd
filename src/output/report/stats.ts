/**
 * `vramscope stats --json`: the contract `vramscope.stats/1`.
 *
 * What cannot be known is NaN here and null in JSON, never 0. Where nothing was recorded, start, end
 * and peak are all the state of the dump, with event -1, and a warning says so: that state is a
 * fact, and the lowest that the real peak can have been.
 */

import type { CounterName, Counters, Peak, Recording } from '../../allocator/replay/types.ts';
import { classTotalsAt } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES, type MemoryClassId } from '../../device/classes/types.ts';
import {
  type DeviceInfo,
  type OomInfo,
  sessionInfo,
  type TraceCounts,
  traceCounts,
} from '../../device/model/device-info.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import {
  type HolderShare,
  type HolderTotal,
  holderShare,
  holderTotals,
} from '../../device/model/holders.ts';
import { isUnusedDevice } from '../../device/model/main-device.ts';
import type {
  Container,
  FileInfo,
  HolderOwner,
  SettingValue,
  Snapshot,
} from '../../format/snapshot/tables.ts';

export interface StatsReport {
  readonly schema: 'vramscope.stats/1';
  readonly file: FileReport;
  readonly devices: readonly DeviceStats[];
  readonly settings: Readonly<Record<string, SettingValue>>;
  readonly warnings: readonly ReportWarning[];
}

/** The `file` of every report. */
export interface FileReport {
  readonly name: string;
  readonly bytes: number;
  readonly container: Container;
  /** null where the container holds no pickle: JSON knows no undefined, and keys should not come and go. */
  readonly protocol: number | null;
  readonly decoder: 'columnar' | 'general';
}

export interface DeviceStats
  extends TraceCounts,
    Pick<DeviceInfo, 'device' | 'kind' | 'events' | 'actions' | 'allocations' | 'anomalies'>,
    Pick<DeviceInfo, 'segmentsAtEnd' | 'recording'> {
  readonly start: StateBytes;
  readonly end: StateBytes;
  readonly peak: { readonly [K in CounterName]: Peak };
  /** What the peak of allocated bytes is made of, the largest first: its bytes add up to `peak.allocatedBytes`. */
  readonly peakByClass: readonly ClassBytes[];
  readonly ooms: readonly OomReport[];
  /** What held the memory that was live at the end; null where the file has no names. */
  readonly holders: HoldersReport | null;
}

export interface HoldersReport extends HolderShare {
  /** The largest first, {@link MOST_HOLDERS} at most. */
  readonly owners: readonly (HolderOwner & Omit<HolderTotal, 'owner' | 'allocations'>)[];
}

const MOST_HOLDERS = 20;

/** See docs/classes.md. */
export interface ClassBytes {
  readonly class: MemoryClassId;
  readonly bytes: number;
  readonly count: number;
}

export type StateBytes = Omit<Counters, 'inactiveSplitBytes'>;

export type OomReport = Pick<OomInfo, 'event' | 'requestedBytes' | 'deviceFreeBytes'>;

/** Codes are those of the snapshot's warnings and 'recorded-late', 'anomalies'. */
export interface ReportWarning {
  readonly code: string;
  readonly message: string;
}

/** `vramscope stats --json`: a contract, see docs/adr/0005-unknown-in-reports.md. `contexts`: one a device. */
export function buildStats(
  file: FileInfo,
  snapshot: Snapshot,
  contexts: readonly DeviceModel[],
): StatsReport {
  const { devices, settings, warnings } = sessionInfo(file, snapshot, contexts);
  const known = new Set<string>(warnings.map(({ code }) => code));
  const recording = devices
    .filter((device) => !isUnusedDevice(device))
    .flatMap((device) => recordingWarning(device) ?? []);
  return {
    schema: 'vramscope.stats/1',
    file: fileReport(file),
    devices: devices.map((info, i) => deviceStats(info, contexts[i])),
    settings,
    warnings: [
      ...warnings,
      // The reader has said already that the ring overflowed or that there is no trace.
      ...recording.filter(({ code }) => !known.has(code)),
      ...contexts.flatMap(anomalyWarning),
    ],
  };
}

export function fileReport({ name, bytes, container, protocol, decoder }: FileInfo): FileReport {
  return { name, bytes, container, protocol: protocol ?? null, decoder };
}

function deviceStats(info: DeviceInfo, context: DeviceModel): DeviceStats {
  return {
    device: info.device,
    kind: info.kind,
    events: info.events,
    actions: info.actions,
    allocations: info.allocations,
    ...traceCounts(context),
    segmentsAtEnd: info.segmentsAtEnd,
    recording: info.recording,
    start: stateBytes(info.start),
    end: stateBytes(info.end),
    peak: info.peaks,
    peakByClass: peakByClass(info, context),
    ooms: info.ooms.map(({ event, requestedBytes, deviceFreeBytes }) => ({
      event,
      requestedBytes,
      deviceFreeBytes,
    })),
    anomalies: info.anomalies,
    holders: holdersReport(context),
  };
}

function holdersReport(context: DeviceModel): HoldersReport | null {
  const share = holderShare(context);
  if (share === undefined) return null;
  const largest = holderTotals(context).slice(0, MOST_HOLDERS);
  return {
    ...share,
    owners: largest.map(({ owner, isGraph, bytes }) => ({ ...owner, isGraph, bytes })),
  };
}

function peakByClass({ peaks, recording }: DeviceInfo, context: DeviceModel): ClassBytes[] {
  if (recording === 'none') return [];
  return classTotalsAt(context, peaks.allocatedBytes.event, true).map(
    ({ class: of, bytes, count }) => ({ class: MEMORY_CLASSES[of].id, bytes, count }),
  );
}

function stateBytes(counters: Counters): StateBytes {
  const { requestedBytes, allocatedBytes, activeBytes, reservedBytes } = counters;
  return { requestedBytes, allocatedBytes, activeBytes, reservedBytes };
}

const RECORDING_CODES: Readonly<Record<Recording, string | undefined>> = {
  complete: undefined,
  preexisting: 'recorded-late',
  truncated: 'ring-truncated',
  none: 'no-trace',
};

function recordingWarning(info: DeviceInfo): ReportWarning | undefined {
  const code = RECORDING_CODES[info.recording];
  if (code === undefined) return undefined;
  const consequence =
    info.recording === 'none'
      ? 'The real peak may have been higher.'
      : 'Peaks cover the recorded part only; memory may have been higher before it.';
  return { code, message: `Device ${info.device}: ${info.recordingReason} ${consequence}` };
}

function anomalyWarning({ trace, replay }: DeviceModel): ReportWarning[] {
  const { anomalyCount, anomalies } = replay;
  if (anomalyCount === 0) return [];
  const first = anomalies[0];
  const where = first === undefined ? '' : ` The first, at event ${first.event}: ${first.message}`;
  const message = `Device ${trace.device}: ${anomalyCount} events contradict earlier ones.${where}`;
  return [{ code: 'anomalies', message }];
}
