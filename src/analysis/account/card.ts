/**
 * The whole card at an account's moment: the ledger's sample nearest before it. Without a ledger an OOM still says what
 * was free on the GPU; what others and the rest of this process hold is unknown then.
 */
import {
  bytesOf,
  type CardHistory,
  cardAt,
  cardHistory,
  NOT_APART,
} from '../../device/model/card.ts';
import { timeOfEventUs } from '../../device/model/events.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Account, AccountCard } from './types.ts';

const historyOf = ({ input }: AnalysisInput): CardHistory | undefined => cardHistory(input);

export function cardOf(
  context: AnalysisInput,
  { event, why }: Account['moment'],
  own: Pick<Account, 'allocatedBytes' | 'reservedBytes'>,
): AccountCard | undefined {
  const history = context.once(historyOf);
  const sample = history && cardAt(history, event, why);
  if (history === undefined || sample === undefined)
    return why === 'oom' ? ofOom(context, event, own, history !== undefined) : undefined;
  const atUs = timeOfEventUs(context.input.trace.events, event);
  const { rows } = sample;
  return { sample, ageUs: atUs - sample.timeUs, rows, unknown: unknownOf(rows, history) };
}

/** What the OOM itself says. */
function ofOom(
  { input: { trace } }: AnalysisInput,
  event: EventIndex,
  { allocatedBytes, reservedBytes }: Pick<Account, 'allocatedBytes' | 'reservedBytes'>,
  hasLedger: boolean,
): AccountCard {
  const free = trace.events.oomDeviceFreeBytes.get(event);
  const rows: LedgerRow[] = [
    { kind: 'allocated', bytes: allocatedBytes },
    { kind: 'cached', bytes: reservedBytes - allocatedBytes },
    ...(free === undefined ? [] : [{ kind: 'free', bytes: free } as const]),
  ];
  const why = hasLedger
    ? 'the ledger has no sample before the OOM'
    : 'the file has no ledger: record with vramscope.record()';
  return {
    ...{ sample: undefined, ageUs: Number.NaN, rows },
    unknown: [`We can't tell what ${NOT_APART} hold, because ${why}.`],
  };
}

function unknownOf(rows: readonly LedgerRow[], { missing }: CardHistory): string[] {
  const outside = rows.find((row) => row.kind === 'outside');
  const hasGroups = rows.some(({ kind }) => kind === 'communicator');
  const collectives = hasGroups ? undefined : missing.communicators;
  return [
    ...(outside === undefined
      ? []
      : [`We can't tell ${NOT_APART} apart, because ${outside.reason}.`]),
    ...(collectives === undefined
      ? []
      : [`We can't tell how much NCCL and other collectives hold, because ${collectives}.`]),
  ];
}

/** For judging an OOM: the card's size, and who holds what is not PyTorch's. Empty without a sample. */
export function cardFigures(context: AnalysisInput, event: EventIndex, reservedBytes: number) {
  const history = context.once(historyOf);
  const sample = history && cardAt(history, event, 'oom');
  if (sample === undefined) return {};
  const { totalBytes, rows } = sample;
  // What is free and reserved is known at the OOM itself, however old the sample is.
  const { oomDeviceFreeBytes } = context.input.trace.events;
  const free = oomDeviceFreeBytes.get(event) ?? bytesOf(rows, 'free');
  const others = rows.find((row) => row.kind === 'others');
  // Communicators are this process's, whatever else is not told apart.
  const known = others === undefined ? bytesOf(rows, 'communicator') : 0;
  const otherBytes = Math.max(0, totalBytes - free - reservedBytes - known);
  return {
    ...{ totalBytes, otherBytes },
    othersBytes: others && Math.min(otherBytes, others.bytes),
    otherProcesses: others?.processes ?? [],
  };
}
