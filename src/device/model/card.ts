/**
 * The whole card over a recording: which event each sample of the ledger belongs to, which sample tells most about a
 * moment, and the rows in words. The rows of a sample add up to the card's total; see ledger.ts.
 */
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount, formatDurationUs, plural } from '../../base/format.ts';
import type {
  DeviceTrace,
  EventIndex,
  LedgerMoment,
  LedgerSample,
  MemoryLedger,
} from '../../format/snapshot/tables.ts';
import { type LedgerRow, ledgerRows } from './ledger.ts';

export interface CardSample {
  /** The event after which it was taken; -1 before the first. */
  readonly event: EventIndex;
  /** Since the first event, below 0 before it; NaN without times. */
  readonly timeUs: number;
  readonly moment: LedgerMoment;
  readonly step: number | undefined;
  readonly totalBytes: number;
  /** Their bytes add up to `totalBytes`. */
  readonly rows: readonly LedgerRow[];
}

/** One device's samples, by time. */
export interface CardHistory {
  readonly samples: readonly CardSample[];
  /** What could not be sampled, and why. */
  readonly missing: MemoryLedger['missing'];
}

export interface CardSource {
  readonly snapshot: { readonly ledger?: MemoryLedger };
  readonly trace: Pick<DeviceTrace, 'device' | 'kind' | 'events'>;
}

/** Undefined if the file has no ledger of this device. */
export function cardHistory({ snapshot: { ledger }, trace }: CardSource): CardHistory | undefined {
  const samples = placedSamples(ledger, trace);
  return ledger && samples.length > 0 ? { samples, missing: ledger.missing } : undefined;
}

function placedSamples(ledger: MemoryLedger | undefined, trace: CardSource['trace']): CardSample[] {
  const { timeUs, length } = trace.events;
  if (ledger === undefined || trace.kind === 'host') return [];
  const placed = (sample: LedgerSample, event: EventIndex, at: number): CardSample => {
    const { moment, step, totalBytes } = sample;
    return {
      event,
      timeUs: at,
      moment,
      step,
      totalBytes,
      rows: ledgerRows(sample, ledger.missing),
    };
  };
  const own = ledger.samples.filter(({ device }) => device === trace.device);
  // Without times, only the sample of the dump has a known place: the end.
  if (timeUs === undefined || length === 0)
    return own
      .filter(({ moment }) => moment === 'dump')
      .map((sample) => placed(sample, length - 1, Number.NaN));
  return own.map((sample) =>
    placed(sample, upperBound(timeUs, sample.timeUs) - 1, sample.timeUs - timeUs[0]),
  );
}

/**
 * The sample nearest to the state after `event`, at it or before; at the end of the recording the last one. Undefined if
 * the first came later.
 */
export function cardAt(
  { samples }: CardHistory,
  event: EventIndex,
  why: 'oom' | 'peak' | 'end' | 'cursor',
): CardSample | undefined {
  if (why === 'end') return samples.at(-1);
  const events = samples.map((sample) => sample.event);
  const [first, next] = [lowerBound(events, event), lowerBound(events, event + 1)];
  if (why !== 'oom') return samples[next - 1];
  // By the time of a later sample others may have come or gone, although no event has happened.
  return samples.slice(first, next).find(({ moment }) => moment === 'oom') ?? samples[first - 1];
}

export const bytesOf = (rows: readonly LedgerRow[], ...kinds: readonly LedgerRow['kind'][]) =>
  sumBy(rows, ({ kind, bytes }) => (kinds.includes(kind) ? bytes : 0));

/** Undefined without a row of the kind: then it is not known. */
export const knownBytes = (rows: readonly LedgerRow[] = [], kind: LedgerRow['kind']) =>
  rows.some((row) => row.kind === kind) ? bytesOf(rows, kind) : undefined;

/** For messages and for the ledger alike. */
export const OWN_OUTSIDE = 'this process outside PyTorch';
export const OTHERS = 'other processes';
export const NOT_APART = `${OTHERS} and ${OWN_OUTSIDE}`;
/** What a process may hold outside PyTorch. */
export const OUTSIDE_IS = 'CUDA context, NCCL, other libraries';

/** 'NCCL, group tp' */
export function rowLabel(row: LedgerRow): string {
  switch (row.kind) {
    case 'allocated':
      return 'PyTorch, allocated';
    case 'cached':
      return 'PyTorch, cached';
    case 'pool':
      return `PyTorch, private pool (${row.id.join(', ')})`;
    case 'communicator':
      return `${backendName(row)}, group ${row.group}`;
    case 'process-rest':
      return OWN_OUTSIDE;
    case 'others':
      return OTHERS;
    case 'outside':
      return NOT_APART;
    case 'behind-allocator':
      return 'freed behind the allocator';
    case 'unexplained':
      return 'not explained';
    case 'free':
      return 'free';
  }
}

/** Of rows, in the order in which they are stacked. */
export const KINDS: readonly LedgerRow['kind'][] = [
  'allocated',
  'cached',
  'pool',
  'communicator',
  'process-rest',
  'others',
  'outside',
  'unexplained',
  'behind-allocator',
  'free',
];

/** 'PyTorch, private pools', 'NCCL': all rows of a kind. @param rows to name the backends from */
export function kindLabel(kind: LedgerRow['kind'], rows: readonly LedgerRow[]): string {
  const own = rows.filter((row) => row.kind === kind);
  if (kind === 'pool') return 'PyTorch, private pools';
  const [first] = own;
  if (kind !== 'communicator') return first === undefined ? kind : rowLabel(first);
  const backends = own.map((row) => (row.kind === 'communicator' ? backendName(row) : ''));
  return [...new Set(backends)].join(', ');
}

const backendName = ({ backend }: { readonly backend: string }): string =>
  backend.toUpperCase() || 'Collectives';

/** What a row is beyond its label, and what is not known about it; '' if nothing. */
export function rowNote(row: LedgerRow): string {
  switch (row.kind) {
    case 'pool':
      return `${formatBytes(row.allocatedBytes)} of it allocated`;
    case 'process-rest':
      return `CUDA context, modules, graphs, other libraries${contextNote(row)}`;
    case 'others':
      return (row.processes ?? [])
        .map(({ pid, bytes }) => `PID ${pid}: ${formatBytes(bytes)}`)
        .join(', ');
    case 'outside':
      return `we can't tell them apart: ${row.reason}${contextNote(row)}`;
    case 'behind-allocator':
      return 'PyTorch counts it as reserved, but it is no longer on the card: a pool that sleeps';
    case 'unexplained':
      return row.bytes < 0
        ? 'the driver counts more for the processes than is in use'
        : 'in use, but by no process that the driver lists';
    default:
      return '';
  }
}

const contextNote = ({ contextBytes }: { readonly contextBytes?: number }): string =>
  contextBytes === undefined ? '' : `; starting CUDA took ${formatBytes(contextBytes)}`;

/** The same row in other samples has the same key. */
export function rowKey(row: LedgerRow): string {
  if (row.kind === 'pool') return `pool ${row.id}`;
  return row.kind === 'communicator' ? `communicator ${row.backend} ${row.group}` : row.kind;
}

const MOMENTS: Readonly<Record<LedgerMoment, string>> = {
  start: 'at the start',
  init: 'after CUDA started',
  interval: 'at an interval',
  step: 'at a step',
  oom: 'when memory ran out',
  dump: 'at the dump',
};

type When = Pick<CardSample, 'moment'> & { readonly step?: number | undefined };

/** 'at step 12' */
export const momentText = ({ moment, step }: When): string =>
  moment === 'step' && step !== undefined ? `at step ${formatCount(step)}` : MOMENTS[moment];

/** 'at step 12, after event 4,312, 1.07 s' */
export function sampleText(sample: When & Pick<CardSample, 'event' | 'timeUs'>): string {
  const { event, timeUs } = sample;
  const place = event < 0 ? 'before the first event' : `after event ${formatCount(event)}`;
  const time = Number.isNaN(timeUs) ? '' : `, ${formatDurationUs(timeUs)}`;
  return `${momentText(sample)}, ${place}${time}`;
}

/** 'another process (577) holds 61.00 GiB', '3 other processes hold 1.20 GiB' */
export function othersText(bytes: number, pids: readonly number[]): string {
  const [first] = pids;
  if (first === undefined) return `${OTHERS} hold ${formatBytes(bytes)}`;
  return pids.length === 1
    ? `another process (PID ${first}) holds ${formatBytes(bytes)}`
    : `${pids.length} ${OTHERS} hold ${formatBytes(bytes)}`;
}

/** '9.50 GiB of this card is NCCL, in 6 groups'; one text for each backend. */
export function collectivesTexts(rows: readonly LedgerRow[]): string[] {
  const own = rows.filter((row) => row.kind === 'communicator');
  return [...groupBy(own, backendName)].map(
    ([backend, groups]) =>
      `${formatBytes(sumBy(groups, ({ bytes }) => bytes))} of this card is ${backend}, in ${plural(groups.length, 'group')}`,
  );
}
