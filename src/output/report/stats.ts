/**
 * `vramscope stats --json`: the contract `vramscope.stats/1`.
 *
 * Unknown values are NaN here and null in JSON, never 0. If nothing was recorded, start, end and peak are all the
 * final state, with event -1, and a warning says so: that state is the least that the real peak can have been.
 */

import type { Counters, Recording } from '../../allocator/replay/types.ts';
import { classTotalsAt } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import { bytesOf, type CardSample, cardHistory, rowLabel } from '../../device/model/card.ts';
import { type DeviceInfo, sessionInfo, traceCounts } from '../../device/model/device-info.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { holderShare, holderTotals } from '../../device/model/holders.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import { isUnusedDevice } from '../../device/model/main-device.ts';
import type { DeviceTrace, FileInfo, Snapshot } from '../../format/snapshot/tables.ts';

import { servingReport } from './serving.ts';

export type StatsReport = ReturnType<typeof buildStats>;
export type DeviceStats = ReturnType<typeof deviceStats>;

const MOST_HOLDERS = 20;

/** A code of the snapshot's warnings, or 'recorded-late' or 'anomalies'. */
interface ReportWarning {
  readonly code: string;
  readonly message: string;
}

/** Builds the contract of docs/adr/0005-unknown-in-reports.md. `contexts` has one entry per device. */
export function buildStats(file: FileInfo, snapshot: Snapshot, contexts: readonly DeviceModel[]) {
  const { devices, settings, warnings } = sessionInfo(file, snapshot, contexts);
  const known = new Set<string>(warnings.map(({ code }) => code));
  const recording = devices
    .filter((device) => !isUnusedDevice(device))
    .flatMap((device) => recordingWarning(device) ?? []);
  return {
    schema: 'vramscope.stats/1' as const,
    file: fileReport(file),
    devices: devices.map((info, i) => deviceStats(info, contexts[i])),
    settings,
    warnings: [
      ...(warnings as readonly ReportWarning[]),
      // The reader already warns about a ring overflow or a missing trace.
      ...recording.filter(({ code }) => !known.has(code)),
      ...contexts.flatMap(anomalyWarning),
    ],
  };
}

/** The `file` of every report. `protocol` is null if the container holds no pickle. */
export const fileReport = ({ name, bytes, container, protocol, decoder }: FileInfo) => ({
  ...{ name, bytes, container, protocol: protocol ?? null, decoder },
});

const deviceStats = (
  { device, kind, events, actions, allocations, ...info }: DeviceInfo,
  context: DeviceModel,
) => ({
  ...{ device, kind, events, actions, allocations },
  ...vendorReport(context.trace),
  ...traceCounts(context),
  segmentsAtEnd: info.segmentsAtEnd,
  recording: info.recording,
  start: stateBytes(info.start),
  end: stateBytes(info.end),
  peak: info.peaks,
  /** What the peak is made of, largest first. Its bytes add up to `peak.allocatedBytes`. */
  peakByClass: peakByClass(info, context),
  ooms: info.ooms.map(({ event, requestedBytes, deviceFreeBytes }) => ({
    event,
    requestedBytes,
    deviceFreeBytes,
  })),
  anomalies: info.anomalies,
  holders: holdersReport(context),
  /** A server's memory at the peak, or private pools; null without either. */
  serving: servingReport(context, info.peaks.allocatedBytes.event),
  /** The whole card, as vramscope.record() sampled it. */
  card: cardReport(context),
});

/** When a sample of the card was taken. */
export const sampleReport = ({ event, timeUs, moment, step }: CardSample) => ({
  ...{ event, timeUs, moment },
  ...(step !== undefined && { step }),
});

/** Beside kind, label and bytes, a row has what is known of its kind: pool, group, processes, context. */
export const rowReport = (row: LedgerRow) => ({ ...row, label: rowLabel(row) });

/** The samples when most of the card was in use and of the end; null without a ledger. */
function cardReport(context: DeviceModel) {
  const history = cardHistory(context);
  if (history === undefined) return null;
  const { samples, missing } = history;
  const freeOf = ({ rows }: CardSample) => bytesOf(rows, 'free');
  const fullest = samples.reduce((a, b) => (freeOf(b) < freeOf(a) ? b : a));
  const report = (sample: CardSample) => ({
    ...sampleReport(sample),
    totalBytes: sample.totalBytes,
    rows: sample.rows.map(rowReport),
  });
  return {
    samples: samples.length,
    fullest: report(fullest),
    end: report(samples[samples.length - 1]),
    missing,
  };
}

/** Only of devices that are not CUDA's. */
const vendorReport = ({ accelerator }: Pick<DeviceTrace, 'accelerator'>) =>
  accelerator && {
    vendor: accelerator.vendor,
    /** Ascend's workspaces, which no counter includes. */
    workspaces: accelerator.workspaces.map(({ sizeBytes }) => ({ bytes: sizeBytes })),
  };

/** The owners of memory live at the end, largest first; null if the file has no names. */
function holdersReport(context: DeviceModel) {
  const share = holderShare(context);
  if (share === undefined) return null;
  const largest = holderTotals(context).slice(0, MOST_HOLDERS);
  return {
    ...share,
    owners: largest.map(({ owner, isGraph, bytes }) => ({ ...owner, isGraph, bytes })),
  };
}

/** See docs/classes.md. */
const peakByClass = (
  { peaks, recording }: Pick<DeviceInfo, 'peaks' | 'recording'>,
  context: DeviceModel,
) =>
  recording === 'none'
    ? []
    : classTotalsAt(context, peaks.allocatedBytes.event, true).map(
        ({ class: of, bytes, count }) => ({ class: MEMORY_CLASSES[of].id, bytes, count }),
      );

const stateBytes = ({ inactiveSplitBytes: _, ...bytes }: Counters) => bytes;

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
