/** The figures of memory_summary() in words, in its order. */
import { formatBytes, formatCount } from '../../base/format.ts';
import type {
  MemoryFigures,
  PoolName,
  StatFigures,
  StatName,
} from '../../device/memory-summary/memory-stats.ts';
import { textTable } from './text.ts';

export interface StatText {
  readonly name: StatName;
  readonly label: string;
  readonly isBytes: boolean;
  /** One sentence, for a tooltip. */
  readonly about: string;
}

const STATS: Readonly<Record<StatName, Pick<StatText, 'label' | 'about'>>> = {
  allocatedBytes: { label: 'Allocated memory', about: 'Blocks in use by tensors.' },
  activeBytes: {
    label: 'Active memory',
    about: 'Allocated blocks plus freed blocks that another stream may still use.',
  },
  requestedBytes: {
    label: 'Requested memory',
    about: 'Bytes your program requested, before rounding up to block sizes.',
  },
  reservedBytes: {
    label: 'Reserved memory',
    about: 'Memory that PyTorch has taken from the GPU: in use or cached.',
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

export const STAT_TEXTS: readonly StatText[] = (Object.keys(STATS) as StatName[]).map((name) => {
  return { name, isBytes: name.endsWith('Bytes'), ...STATS[name] };
});

export const POOL_TEXTS: readonly { readonly pool: PoolName; readonly label: string }[] = [
  { pool: 'all', label: 'all' },
  { pool: 'large', label: 'large pool' },
  { pool: 'small', label: 'small pool' },
];

export interface FieldText {
  readonly field: keyof StatFigures;
  readonly label: string;
  /** Needs the beginning of the process: otherwise the figure is the least that it can be. */
  readonly needsWhole: boolean;
}

export const FIELD_TEXTS: readonly FieldText[] = [
  { field: 'current', label: 'Current', needsWhole: false },
  { field: 'peak', label: 'Peak so far', needsWhole: true },
  { field: 'allocated', label: 'Allocated in total', needsWhole: true },
  { field: 'freed', label: 'Freed in total', needsWhole: true },
];

/** What to say of figures that the trace does not show from the beginning. */
export const PARTIAL_TEXT =
  'The trace does not cover the start of the process, so its peaks and totals are unknown. Figures with ≥ are lower bounds.';

/** '1.25 GiB', '≥ 1.25 GiB' where more may have been before the trace, '1,204' for counts. */
export function figureText(
  figures: MemoryFigures,
  pool: PoolName,
  { name, isBytes }: StatText,
  { field, needsWhole }: FieldText,
): string {
  const value = figures.pools[pool][name][field];
  const text = isBytes ? formatBytes(value) : formatCount(value);
  return needsWhole && !figures.isWhole ? `≥ ${text}` : text;
}

/** The whole table as plain text, to paste into an issue. @param title its first line */
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
