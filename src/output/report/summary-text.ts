/** The summary as plain text, to paste into an issue or a chat. */
import { formatBytes, formatCount, formatDurationUs } from '../../base/format.ts';
import { type ClassTotal, MEMORY_CLASSES } from '../../device/classes/types.ts';
import type { MemoryFigures } from '../../device/memory-summary/memory-stats.ts';
import { settingRows } from '../../device/memory-summary/settings.ts';
import type { TraceFacts } from '../../device/memory-summary/trace-facts.ts';
import type { AnnotationGroup } from '../../device/model/annotation-groups.ts';
import type { DeviceInfo, SessionInfo } from '../../device/model/device-info.ts';
import type { SettingValue } from '../../format/snapshot/tables.ts';
import { memoryText } from './stat-labels.ts';
import { textTable } from './text.ts';

export interface SummaryParts {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly figures: MemoryFigures;
  /** What the figures are of: 'At the peak, after event 1,299'. */
  readonly title: string;
  /** Undefined while they are not known: then they are left out. */
  readonly annotationGroups: readonly AnnotationGroup[] | undefined;
  readonly facts: TraceFacts | undefined;
  /** What active memory is made of at the event of the figures; empty while not known. */
  readonly classes: readonly ClassTotal[];
  /** What the reader should know before trusting the figures. */
  readonly notes: readonly string[];
}

/** More phases than these are counted and not listed. */
const LISTED_PHASES = 40;

export function summaryText(parts: SummaryParts): string {
  const { info, device, figures, title, annotationGroups, facts, notes, classes } = parts;
  const { name, bytes } = info.file;
  const head = `${name} (${formatCount(bytes)} bytes), ${deviceName(device)}`;
  const sections = [
    head,
    memoryText(figures, title),
    classesText(classes),
    annotationGroups === undefined || annotationGroups.length === 0
      ? ''
      : phasesText(annotationGroups),
    settingsText(info),
    facts === undefined ? '' : recordingText(device, facts),
    notes.map((note) => `Note: ${note}`).join('\n'),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

export const deviceName = ({ kind, device }: Pick<DeviceInfo, 'kind' | 'device'>): string =>
  kind === 'host' ? 'pinned host memory' : `device ${device}`;

function classesText(classes: readonly ClassTotal[]): string {
  if (classes.length === 0) return '';
  const rows = classes.map(({ class: of, bytes, count }) => {
    return [MEMORY_CLASSES[of].label, formatBytes(bytes), formatCount(count)];
  });
  return textTable([['Active memory by class', 'Bytes', 'Allocations'], ...rows]).join('\n');
}

function phasesText(phases: readonly AnnotationGroup[]): string {
  const rows = phases.slice(0, LISTED_PHASES).map(({ name, count, peaks }) => {
    const { allocatedBytes, activeBytes, reservedBytes } = peaks;
    const most = [allocatedBytes, activeBytes, reservedBytes].map((peak) =>
      formatBytes(peak.bytes),
    );
    return [name, formatCount(count), ...most];
  });
  const header = ['Phases', 'Times', 'Peak allocated', 'Peak active', 'Peak reserved'];
  const hidden = phases.length - rows.length;
  const rest = hidden > 0 ? [`and ${formatCount(hidden)} with lower peaks`] : [];
  return [...textTable([header, ...rows]), ...rest].join('\n');
}

function settingsText({ settings }: SessionInfo): string {
  if (Object.keys(settings).length === 0) return 'Allocator settings: not recorded';
  const changed = changedSettings(settings);
  if (changed.length === 0) return "Allocator settings: all at PyTorch's defaults";
  return ['Allocator settings:', ...changed.map((text) => `  ${text}`)].join('\n');
}

function recordingText(device: DeviceInfo, { stackKinds }: TraceFacts): string {
  const { recording, recordingReason, events, hasTime, durationUs } = device;
  const time = hasTime ? ` over ${formatDurationUs(durationUs)}` : '';
  const stacks = stackKinds
    .filter(({ allocations }) => allocations > 0)
    .map(({ kind, peakBytes }) => `${formatBytes(peakBytes)} ${kind.replaceAll('-', ' ')}`);
  return [
    `Recording: ${recording}. ${recordingReason}`,
    `${formatCount(events)} events${time}`,
    ...(stacks.length === 0 ? [] : [`Stacks of the blocks live at the peak: ${stacks.join(', ')}`]),
  ].join('\n');
}

/** 'name = value' for each recorded setting that is not at its default, or whose default is not known here. */
export function changedSettings(settings: Readonly<Record<string, SettingValue>>): string[] {
  const changed = settingRows(settings).filter(({ isDefault }) => isDefault !== true);
  return changed.map(({ name, value }) => `${name} = ${value}`);
}
