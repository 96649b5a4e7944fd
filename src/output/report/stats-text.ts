/** `vramscope stats`: the figures of torch.cuda.memory_summary(), and when each peaked. */

import { findRetriedOoms } from '../../allocator/replay/trace-events.ts';
import {
  COUNTER_NAMES,
  type CounterName,
  type Counters,
  NEVER,
  type Recording,
} from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  formatFileSize,
  formatPercent,
  plural,
} from '../../base/format.ts';
import { classLabel } from '../../device/classes/types.ts';
import { sampleText } from '../../device/model/card.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { durationUs } from '../../device/model/events.ts';
import { peakText } from '../../device/model/main-device.ts';
import { inWordsOf, vendorName, workspaceBytes } from '../../device/model/vendors.ts';
import { memoryChart } from './memory-chart.ts';
import { servingTables } from './serving.ts';
import type { DeviceStats, StatsReport } from './stats.ts';
import { settingsText } from './summary-text.ts';
import { deviceOrder, printable, styled, type TextOptions, textTable, wrap } from './text.ts';

export const COUNTER_LABELS: Readonly<Record<CounterName, string>> = {
  requestedBytes: 'requested',
  allocatedBytes: 'allocated',
  activeBytes: 'active',
  reservedBytes: 'reserved',
  inactiveSplitBytes: 'inactive split',
};

const RECORDING_LABELS: Readonly<Record<Recording, string>> = {
  complete: 'from the start',
  preexisting: 'began late',
  truncated: 'oldest events dropped',
  none: 'no events',
};

/** "Never" is certain only if the start was recorded. */
const NO_OOM: Readonly<Record<Recording, string>> = {
  complete: 'never',
  preexisting: 'none since recording began',
  truncated: 'none in the events that were kept',
  none: 'not recorded',
};

const LABEL_WIDTH = 16;
const NUMBER_WIDTH = 13;
/** 'KV cache and growing state' is the longest. */
const CLASS_WIDTH = 27;
const SHARE_WIDTH = 7;
/** OOMs listed one by one; the rest are counted. */
const MAX_OOMS = 5;

/** Lines without line breaks. `contexts` are those that the report was built from. */
export function statsText(
  report: StatsReport,
  contexts: readonly DeviceModel[],
  options: TextOptions,
): string[] {
  const { shown, note } = deviceOrder(contexts);
  const settings = settingsText(report);
  const devices = shown.flatMap((i) => [
    '',
    ...deviceText(report.devices[i], contexts[i], options),
  ]);
  return [
    ...fileText(report, options),
    ...(devices.length === 0 ? ['', 'No devices: nothing was allocated or recorded.'] : devices),
    ...(note === undefined ? [] : ['', note]),
    '',
    ...settings.map(printable),
    ...warningsText(report, options),
  ];
}

function fileText({ file }: StatsReport, options: TextOptions): string[] {
  const facts = [
    formatFileSize(file.bytes),
    ...(file.container === 'pickle' ? [] : [file.container]),
    ...(file.protocol === null ? [] : [`pickle protocol ${file.protocol}`]),
    ...(file.decoder === 'general' ? ['read by the general decoder'] : []),
  ];
  return [styled(printable(file.name), 'bold', options), facts.join(', ')];
}

function deviceText(device: DeviceStats, context: DeviceModel, options: TextOptions): string[] {
  const vendor = vendorName(context.trace);
  const own = vendor === undefined ? '' : ` (${vendor})`;
  const name = device.kind === 'host' ? 'Host memory' : `Device ${device.device}${own}`;
  const lengthUs = durationUs(context.trace.events);
  const time = lengthUs > 0 ? ` over ${formatDurationUs(lengthUs)}` : '';
  const events = `${plural(device.events, 'event')}${time}`;
  const ooms = oomEvents(device, context);
  const failed = ooms.failed.map(({ event }) => event);
  const chart = memoryChart(context, failed, options.columns);
  return [
    `${styled(name, 'bold', options)}  ${events}, recording: ${RECORDING_LABELS[device.recording]}`,
    '',
    ...countersText(device, context.replay.end, options),
    ...(chart.length === 0 ? [] : ['', ...chart, legend(ooms)]),
    '',
    ...classesText(device, options),
    ...servingText(device, options),
    ...factsText(device, context),
    ...workspaceFact(context),
    ...oomsText(ooms, context, device.recording, options),
    ...cardText(device, options),
  ];
}

function countersText(device: DeviceStats, end: Counters, options: TextOptions): string[] {
  const isRecorded = device.recording !== 'none';
  const head = ['', 'at the end', ...(isRecorded ? ['peak', 'at event'] : [])];
  const rows = COUNTER_NAMES.map((name) => {
    const { bytes, event } = device.peak[name];
    const at = event < 0 ? 'before' : formatCount(event);
    const peak = isRecorded ? [peakText(bytes, device.recording), at] : [];
    return [COUNTER_LABELS[name], formatBytes(end[name]), ...peak];
  });
  return [styled(tableRow(head), 'dim', options), ...rows.map(tableRow)];
}

function tableRow([label, ...cells]: readonly string[]): string {
  const padded = cells.map((text) => text.padStart(NUMBER_WIDTH)).join('');
  return `  ${label.padEnd(LABEL_WIDTH)}${padded}`.trimEnd();
}

function legend(ooms: OomEvents): string {
  const oom = ooms.failed.length > 0 ? '   ^ out of memory' : '';
  return `${' '.repeat(14)}█ allocated   ░ reserved above it${oom}`;
}

/** The classes at the peak that hold at least 1% of it. */
function classesText({ peak, peakByClass }: DeviceStats, options: TextOptions): string[] {
  const whole = peak.allocatedBytes.bytes;
  const shown = peakByClass.filter(({ bytes }) => bytes * 100 >= whole);
  // Without stacks, every class is unknown.
  if (peakByClass.every((one) => one.class === 'unknown')) return [];
  const rest = whole - sumBy(shown, ({ bytes }) => bytes);
  const row = (label: string, bytes: number) => {
    const share = formatPercent(bytes / whole).padStart(SHARE_WIDTH);
    return `  ${label.padEnd(CLASS_WIDTH)}${formatBytes(bytes).padStart(NUMBER_WIDTH)}${share}`;
  };
  return [
    styled(`  Allocated at the peak, by class`, 'dim', options),
    ...shown.map((one) => row(classLabel(one.class), one.bytes)),
    ...(rest > 0 ? [row('others', rest)] : []),
    '',
  ];
}

function servingText({ serving }: DeviceStats, options: TextOptions): string[] {
  if (serving === null) return [];
  const tables = servingTables(serving).flatMap(([head = '', ...rows]) => [
    styled(`  ${head}`, 'dim', options),
    ...rows.map((row) => printable(`  ${row}`)),
    '',
  ]);
  const notes = serving.notes.flatMap((note) =>
    wrap(`  ${printable(note)}`, options.columns, '  '),
  );
  return [...tables, ...notes, ''];
}

function factsText(device: DeviceStats, { replay }: DeviceModel): string[] {
  const { preexisting, end } = replay.allocations;
  const isLate = preexisting > 0 && device.recording !== 'none';
  const before = isLate ? `, ${formatCount(preexisting)} from before the oldest event` : '';
  const live = formatCount(sumBy(end, (event) => (event === NEVER ? 1 : 0)));
  const stacks = `${formatCount(device.stacks)} of ${plural(device.frames, 'different frame')}`;
  return [
    tableFact(
      'allocations',
      `${formatCount(device.allocations)}${before}, ${live} live at the end`,
    ),
    tableFact(
      'segments',
      `${formatCount(device.segmentsAtEnd)} at the end, ${plural(device.streams, 'stream')}`,
    ),
    tableFact('call stacks', device.stacks === 0 ? 'none recorded' : stacks),
  ];
}

function workspaceFact({ trace }: DeviceModel): string[] {
  const bytes = workspaceBytes(trace);
  if (bytes === 0) return [];
  return [tableFact('workspaces', `${formatBytes(bytes)}, outside these counters`)];
}

const tableFact = (label: string, text: string): string =>
  `  ${label.padEnd(LABEL_WIDTH)}   ${text}`;

type OomEvents = ReturnType<typeof oomEvents>;

/** OOMs that the program saw, and how many requests were retried at once, so that it saw no error. */
function oomEvents({ ooms }: DeviceStats, { trace, replay, stacks }: DeviceModel) {
  const retried = findRetriedOoms(trace, replay, stacks);
  return { failed: ooms.filter(({ event }) => !retried.has(event)), retried: retried.size };
}

function oomsText(
  { failed, retried }: OomEvents,
  { trace }: DeviceModel,
  recording: Recording,
  options: TextOptions,
) {
  const others =
    retried > 0
      ? [tableFact('', `${plural(retried, 'request')} retried, so your program saw no error`)]
      : [];
  if (failed.length === 0) return [tableFact('out of memory', NO_OOM[recording]), ...others];
  const listed = failed.slice(0, MAX_OOMS).map(({ event, requestedBytes, deviceFreeBytes }) => {
    const free = Number.isNaN(deviceFreeBytes)
      ? ''
      : inWordsOf(trace, `, GPU had ${formatBytes(deviceFreeBytes)} free`);
    return `event ${formatCount(event)}: ${formatBytes(requestedBytes)} requested${free}`;
  });
  const more = failed.length - listed.length;
  if (more > 0) listed.push(`and ${formatCount(more)} more`);
  const lines = listed.map((text, i) =>
    styled(tableFact(i === 0 ? 'out of memory' : '', text), 'red', options),
  );
  return [...lines, ...others];
}

/** The card when most of it was in use, as sampled. */
function cardText({ card }: DeviceStats, options: TextOptions): string[] {
  if (card === null) return [];
  const { fullest, samples, end } = card;
  const bytesIn = (sample: typeof end, label: string) => {
    const row = sample.rows.find((one) => one.label === label);
    return row === undefined ? '' : formatBytes(row.bytes);
  };
  // Both end with what is free.
  const labels = [...fullest.rows.slice(0, -1), ...end.rows].map(({ label }) => label);
  const rows = [...new Set(labels)].map((label) => [
    label,
    bytesIn(fullest, label),
    bytesIn(end, label),
  ]);
  const title = `  The card, ${formatBytes(fullest.totalBytes)}, in ${plural(samples, 'sample')}; fullest ${sampleText(fullest)}`;
  const table = textTable([['', 'fullest', 'at the end'], ...rows]);
  return [
    '',
    styled(title, 'dim', options),
    ...table.map((line) => `  ${printable(line)}`),
    ...Object.values(card.missing).map((why) => `  Not sampled: ${printable(why)}`),
  ];
}

function warningsText({ warnings }: StatsReport, options: TextOptions): string[] {
  return warnings.flatMap(({ message }) => {
    const lines = wrap(`Warning: ${printable(message)}`, options.columns, '  ');
    return lines.map((line) => styled(line, 'yellow', options));
  });
}
