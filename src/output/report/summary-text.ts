/** The summary as plain text, to paste into an issue or a chat; and the labels of memory_summary()'s figures. */
import { formatBytes, formatCount, formatDurationUs, lowerBound } from '../../base/format.ts';
import { type ClassTotal, MEMORY_CLASSES } from '../../device/classes/types.ts';
import type {
  MemoryFigures,
  PoolName,
  StatName,
} from '../../device/memory-summary/memory-stats.ts';
import { limitRow, settingRows } from '../../device/memory-summary/settings.ts';
import type { TraceFacts } from '../../device/memory-summary/trace-facts.ts';
import type { AnnotationGroup } from '../../device/model/annotation-groups.ts';
import type { DeviceInfo, SessionInfo } from '../../device/model/device-info.ts';
import { type deviceTitle, vendorName } from '../../device/model/vendors.ts';
import type { SettingValue } from '../../format/snapshot/tables.ts';
import { textTable } from './text.ts';

export interface SummaryParts {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly figures: MemoryFigures;
  /** 'At the peak, after event 1,299'. */
  readonly title: string;
  /** Left out while undefined, that is, unknown. */
  readonly annotationGroups: readonly AnnotationGroup[] | undefined;
  readonly facts: TraceFacts | undefined;
  /** Active memory by class at the event of the figures; empty while unknown. */
  readonly classes: readonly ClassTotal[];
  /** What to know before trusting the figures. */
  readonly notes: readonly string[];
}

/** Further phases are counted, not listed. */
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
    [...settingsText(info), ...limitText(device, info)].join('\n'),
    facts === undefined ? '' : recordingText(device, facts),
    notes.map((note) => `Note: ${note}`).join('\n'),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

export function deviceName({ kind, device, ...own }: Parameters<typeof deviceTitle>[0]): string {
  if (kind === 'host') return 'pinned host memory';
  const vendor = vendorName(own);
  return vendor === undefined ? `device ${device}` : `device ${device} (${vendor})`;
}

function classesText(classes: readonly ClassTotal[]): string {
  if (classes.length === 0) return '';
  const rows = classes.map(({ class: of, bytes, count }) => {
    return [MEMORY_CLASSES[of].label, formatBytes(bytes), formatCount(count)];
  });
  return textTable([['Active memory by class', 'Bytes', 'Allocations'], ...rows]).join('\n');
}

function phasesText(phases: readonly AnnotationGroup[]): string {
  const rows = phases.slice(0, LISTED_PHASES).map(({ name, peaks, ...times }) => {
    const most = [peaks.allocatedBytes, peaks.activeBytes, peaks.reservedBytes];
    return [name, timesText(times), ...most.map(({ bytes }) => peakText(bytes))];
  });
  const header = ['Phases', 'Times', 'Peak allocated', 'Peak active', 'Peak reserved'];
  const hidden = phases.length - rows.length;
  const rest = hidden > 0 ? [`and ${formatCount(hidden)} with lower peaks`] : [];
  return [...textTable([header, ...rows]), ...rest].join('\n');
}

/** '5, and 3 before the recording' */
export function timesText({ count, before }: Pick<AnnotationGroup, 'count' | 'before'>): string {
  if (before === 0) return formatCount(count);
  return count === 0
    ? `${formatCount(before)} before the recording`
    : `${formatCount(count)}, and ${formatCount(before)} before the recording`;
}

const peakText = (bytes: number): string => (bytes < 0 ? 'unknown' : formatBytes(bytes));

/** A title, then a line for each setting that differs from its default. */
export function settingsText({ settings }: Pick<SessionInfo, 'settings'>): string[] {
  if (Object.keys(settings).length === 0) return ['Allocator settings: not recorded'];
  const changed = changedSettings(settings);
  if (changed.length === 0) return ["Allocator settings: all at PyTorch's defaults"];
  return [
    'Allocator settings that differ from the defaults:',
    ...changed.map((text) => `  ${text}`),
  ];
}

function limitText(device: DeviceInfo, { settings }: SessionInfo): string[] {
  const limit = limitRow(device, settings);
  return limit === undefined ? [] : [`${limit.name}: ${limit.value}. ${limit.about}`];
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

/** 'name = value' for each recorded setting that is not at its default or has no known default. */
export function changedSettings(settings: Readonly<Record<string, SettingValue>>): string[] {
  const changed = settingRows(settings).filter(({ isDefault }) => isDefault !== true);
  return changed.map(({ name, value }) => `${name} = ${value}`);
}

/** `about`: one sentence, for a tooltip. */
const STATS: Readonly<Record<StatName, { readonly label: string; readonly about: string }>> = {
  allocatedBytes: { label: 'Allocated memory', about: 'Blocks in use by tensors.' },
  activeBytes: {
    label: 'Active memory',
    about: 'Allocated blocks plus freed blocks that another stream may still use.',
  },
  requestedBytes: {
    label: 'Requested memory',
    about:
      'Bytes your program requested, before rounding up to block sizes. Counted until a free is completed, so for a moment it may be more than what is allocated.',
  },
  reservedBytes: {
    label: 'Reserved memory',
    about: 'Memory that PyTorch has taken from the device: in use or cached.',
  },
  inactiveSplitBytes: {
    label: 'Non-releasable memory',
    about: 'Free memory in segments that are partly in use: "inactive split" in memory_stats().',
  },
  allocations: { label: 'Allocations', about: 'Allocated blocks.' },
  activeAllocations: {
    label: 'Active allocations',
    about: 'Allocated blocks plus freed blocks that another stream may still use.',
  },
  segments: {
    label: 'Reserved segments',
    about: 'As memory_stats() counts them: expandable segments are not included.',
  },
};

export const STAT_TEXTS = (Object.keys(STATS) as StatName[]).map((name) => {
  return { name, isBytes: name.endsWith('Bytes'), ...STATS[name] };
});

export const POOL_TEXTS: readonly { readonly pool: PoolName; readonly label: string }[] = [
  { pool: 'all', label: 'all' },
  { pool: 'large', label: 'large pool' },
  { pool: 'small', label: 'small pool' },
];

/** `needsWhole`: needs the start of the process; otherwise the figure is a lower bound. */
export const FIELD_TEXTS = [
  { field: 'current', label: 'Current', needsWhole: false },
  { field: 'peak', label: 'Peak so far', needsWhole: true },
  { field: 'allocated', label: 'Allocated in total', needsWhole: true },
  { field: 'freed', label: 'Freed in total', needsWhole: true },
] as const;

/** Explains figures of a trace that starts late. */
export const PARTIAL_TEXT =
  'The trace does not cover the start of the process, so its peaks and totals are unknown. Figures with ≥ are lower bounds.';

/** '1.25 GiB', '≥ 1.25 GiB' if there may have been more before the trace, '1,204' for counts. */
export function figureText(
  figures: MemoryFigures,
  pool: PoolName,
  { name, isBytes }: Pick<(typeof STAT_TEXTS)[number], 'name' | 'isBytes'>,
  { field, needsWhole }: (typeof FIELD_TEXTS)[number],
): string {
  const value = figures.pools[pool][name][field];
  const text = isBytes ? formatBytes(value) : formatCount(value);
  return lowerBound(text, needsWhole && !figures.isWhole);
}

/** The whole table as plain text, to paste into an issue. @param title the first line */
export function memoryText(figures: MemoryFigures, title: string): string {
  const rows = STAT_TEXTS.flatMap((stat) =>
    POOL_TEXTS.map(({ pool, label }) => [
      pool === 'all' ? stat.label : `  from ${label}`,
      ...FIELD_TEXTS.map((field) => figureText(figures, pool, stat, field)),
    ]),
  );
  const lines = textTable([['', ...FIELD_TEXTS.map(({ label }) => label)], ...rows]);
  return [title, '', ...lines, ...(figures.isWhole ? [] : ['', PARTIAL_TEXT])].join('\n');
}
