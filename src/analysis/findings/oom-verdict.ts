/**
 * Why an allocation failed, judged by its figures alone: used for OOM events and for pasted messages. Unknown figures
 * are undefined, and nothing that depends on them is said.
 */
import { formatBytes, sentenceCase } from '../../base/format.ts';
import { NOT_APART, OTHERS, OUTSIDE_IS, OWN_OUTSIDE, othersText } from '../../device/model/card.ts';
import { adviceFor, type Circumstances } from '../verdict/remedy-ideas.ts';
import type { Cause } from '../verdict/types.ts';

export interface OomFigures {
  readonly requestedBytes: number;
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** Part of the allocated bytes: free, but in private pools, where the request can't use it. */
  readonly strandedBytes?: number | undefined;
  /** Largest contiguous free range in PyTorch's segments. */
  readonly largestFreeBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly totalBytes?: number | undefined;
  /** set_per_process_memory_fraction, if the message states it. */
  readonly allowedBytes?: number | undefined;
  /** The most that was ever reserved: a limit on the process is at least as high. */
  readonly peakReservedBytes?: number | undefined;
  /** True for messages, which state a limit if there is one; events do not. */
  readonly isLimitStated?: boolean;
  /** The program only serves a model; false if unknown. */
  readonly isServer?: boolean | undefined;
  /** Neither free nor PyTorch's: other processes and non-PyTorch memory, if the message says enough. */
  readonly otherBytes?: number | undefined;
  /** The part of it that other processes have, if told apart. */
  readonly othersBytes?: number | undefined;
  /** As far as they are listed. */
  readonly otherProcesses?: readonly ListedProcess[];
}

export interface ListedProcess {
  readonly pid: number;
  readonly bytes: number;
}

export type OomCause = keyof typeof REMEDIED_AS;

export interface OomVerdict {
  readonly cause: OomCause;
  /** The process may not use what the device still has free. */
  readonly isCapped: boolean;
  /** The device had more free than was requested. */
  readonly hadRoom: boolean;
  /** Bytes to free for the request to fit, if everything were packed. */
  readonly missingBytes: number;
  /** The process's limit is only known to be as high as the most it reserved, so less may be missing. */
  readonly isMissingAtMost: boolean;
  /** How much higher the process's limit must be for the request; undefined if no limit was hit. */
  readonly raise: { readonly bytes: number; readonly isAtMost: boolean } | undefined;
  /** The request and what was available: a sentence or two, starting in lower case. */
  readonly text: string;
  /** Says in one sentence that the process hit its own limit; undefined if it did not. */
  readonly limit: string | undefined;
  readonly arithmetic: readonly string[];
  readonly advice: readonly string[];
}

/** Every program has gaps below this share of reserved memory; below this share of the request they hardly help. */
const MIN_GAP_SHARE = 0.1;
const BOTH_GAP_SHARE = 0.25;
/** Others use so much of the GPU that this program is not the main one on it. */
const OTHERS_SHARE = 0.3;
/** A CUDA context is far smaller on any GPU that PyTorch runs on. */
const OWN_OUTSIDE_SHARE = 0.2;
/** PyTorch runs on no smaller GPU: if a process sees less, others have the rest. */
const SMALLEST_DEVICE_BYTES = 4 * 2 ** 30;

export function judgeOom(figures: OomFigures): OomVerdict {
  const { requestedBytes, allocatedBytes, reservedBytes, freeBytes } = figures;
  const gapBytes = Math.max(0, reservedBytes - allocatedBytes);
  const isCapped = hitsLimit(figures);
  const room = isCapped
    ? Math.max(0, (figures.allowedBytes ?? figures.peakReservedBytes ?? 0) - reservedBytes)
    : freeBytes;
  const missingBytes = Math.max(0, requestedBytes - gapBytes - (room ?? 0));
  const isAtMost = isCapped && figures.allowedBytes === undefined;
  const isMissingAtMost = isAtMost && missingBytes > 0;
  const missing = atMostText({ bytes: missingBytes, isAtMost: isMissingAtMost });
  // A request larger than any gap takes a segment of its own.
  const raiseBytes = isCapped ? Math.max(0, segmentBytes(requestedBytes) - (room ?? 0)) : 0;
  const raise = raiseBytes > 0 ? { bytes: raiseBytes, isAtMost } : undefined;
  const cause = causeOf(figures, gapBytes, isCapped);
  const hadRoom = deviceHadRoom(figures);
  const isServer = figures.isServer === true;
  return {
    cause,
    isCapped,
    hadRoom,
    missingBytes,
    isMissingAtMost,
    raise,
    text: textOf(figures, cause, {
      gapBytes,
      isAllGaps: missingBytes === 0,
      lack: lackText(missing, missingBytes, raise),
    }),
    limit: isCapped ? capSentence(figures) : undefined,
    arithmetic: arithmeticOf(figures, gapBytes, missing),
    advice: adviceOf(cause, missingBytes, { isCapped, hadRoom, isServer }),
  };
}

/** Two figures that differ by less of the larger one are not told apart. */
const ALIKE = 0.05;

/** What was missing, as a request that no gap serves takes a segment of its own, and if all gaps were one piece; or ''. */
function lackText(missing: string, missingBytes: number, raise: OomVerdict['raise']): string {
  if (raise === undefined) return missingBytes === 0 ? '' : `${missing} was missing`;
  const own = `${atMostText(raise)} was missing`;
  const isAlike = raise.bytes - missingBytes < ALIKE * raise.bytes;
  return isAlike ? own : `${own}, ${missing} if all gaps were one piece`;
}

/** 'at most 870.01 MiB' */
export const atMostText = ({ bytes, isAtMost }: NonNullable<OomVerdict['raise']>): string =>
  `${isAtMost ? 'at most ' : ''}${formatBytes(bytes)}`;

/**
 * A stated limit is the cause if the request would have exceeded it, or if the device had room. If no limit is stated
 * because the source never states one, free room on the device implies one.
 */
function hitsLimit(figures: OomFigures): boolean {
  const { requestedBytes, reservedBytes, allowedBytes } = figures;
  if (allowedBytes === undefined) return figures.isLimitStated !== true && deviceHadRoom(figures);
  return deviceHadRoom(figures) || reservedBytes + segmentBytes(requestedBytes) > allowedBytes;
}

const deviceHadRoom = ({ freeBytes, requestedBytes }: OomFigures): boolean =>
  freeBytes !== undefined && freeBytes >= segmentBytes(requestedBytes);

/** What the allocator would request from the driver: 2 MiB, 20 MiB, or a multiple of 2 MiB from 10 MiB on. */
function segmentBytes(requestedBytes: number): number {
  if (requestedBytes <= 2 ** 20) return 2 * 2 ** 20;
  if (requestedBytes < 10 * 2 ** 20) return 20 * 2 ** 20;
  return Math.ceil(requestedBytes / 2 ** 21) * 2 ** 21;
}

function causeOf(figures: OomFigures, gapBytes: number, isCapped: boolean): OomCause {
  const { requestedBytes, reservedBytes, otherBytes, othersBytes, totalBytes } = figures;
  const share = reservedBytes > 0 ? gapBytes / reservedBytes : 0;
  if (gapBytes >= requestedBytes && share >= MIN_GAP_SHARE) return 'fragmented';
  if (share >= BOTH_GAP_SHARE && gapBytes >= MIN_GAP_SHARE * requestedBytes) return 'both';
  if (isCapped) return 'too-large';
  if (deviceHadRoom(figures)) return 'driver-refused';
  const shareIsAbove = (bytes: number | undefined, least: number): boolean =>
    bytes !== undefined && bytes >= least * (totalBytes ?? Infinity);
  if (shareIsAbove(othersBytes ?? otherBytes, OTHERS_SHARE) || seesLittle(figures))
    return 'other-processes';
  return shareIsAbove(ownOutside(figures), OWN_OUTSIDE_SHARE) ? 'outside-pytorch' : 'too-large';
}

/** What this process holds outside PyTorch, if told apart from other processes. */
const ownOutside = ({ otherBytes, othersBytes }: OomFigures): number | undefined =>
  otherBytes === undefined || othersBytes === undefined ? undefined : otherBytes - othersBytes;

/** For events, which don't state the device's size: the process has and could get less than any GPU offers. */
const seesLittle = ({ reservedBytes, freeBytes, totalBytes, isLimitStated }: OomFigures): boolean =>
  isLimitStated !== true &&
  totalBytes === undefined &&
  freeBytes !== undefined &&
  reservedBytes + freeBytes < SMALLEST_DEVICE_BYTES;

interface Missing {
  readonly gapBytes: number;
  /** The gaps and what could still be reserved would have been enough in one piece. */
  readonly isAllGaps: boolean;
  readonly lack: string;
}

function textOf(figures: OomFigures, cause: OomCause, { gapBytes, isAllGaps, lack }: Missing) {
  const asked = formatBytes(figures.requestedBytes);
  const [gaps, held] = [formatBytes(gapBytes), formatBytes(figures.reservedBytes)];
  switch (cause) {
    case 'fragmented':
      return `memory is fragmented. ${asked} did not fit in one piece, although ${gaps} of the ${held} that PyTorch held was free.`;
    case 'both':
      return `${isAllGaps ? 'what was left was in pieces' : 'there was too little memory, and it is fragmented'}. ${asked} was requested; ${gaps} of the ${held} that PyTorch held was free in smaller pieces, ${isAllGaps ? 'enough with the room below the limit, had it been one piece' : 'and all of them together were too small'}.`;
    case 'too-large':
      return notEnough(figures, lack);
    case 'other-processes':
      return someoneText(figures, asked);
    case 'outside-pytorch':
      return `${OWN_OUTSIDE} (${OUTSIDE_IS}) holds ${formatBytes(ownOutside(figures) ?? Number.NaN)}, and ${asked} did not fit in the rest.`;
    case 'driver-refused':
      return refusedText(figures);
  }
}

export const refusedText = (figures: Pick<OomFigures, 'requestedBytes' | 'freeBytes'>): string =>
  `${formatBytes(figures.requestedBytes)} was requested and the GPU reported ${formatBytes(figures.freeBytes ?? Number.NaN)} free, but the driver refused it. We can't tell why from these figures.`;

function someoneText(
  { otherBytes, othersBytes, otherProcesses = [], totalBytes, ...own }: OomFigures,
  asked: string,
) {
  const { reservedBytes, freeBytes = 0 } = own;
  const pids = otherProcesses.map(({ pid }) => pid);
  if (othersBytes !== undefined && totalBytes !== undefined)
    return `${othersText(othersBytes, pids)} of this GPU's ${formatBytes(totalBytes)}, and ${asked} did not fit in the rest.`;
  if (otherBytes !== undefined)
    return `something else uses this GPU too. ${formatBytes(otherBytes)} of it is not your program's PyTorch memory, and ${asked} did not fit in the rest.`;
  return `something else uses this GPU too. PyTorch held ${formatBytes(reservedBytes)} of the GPU and ${formatBytes(freeBytes)} was free. No GPU is so small, so other processes hold the rest, and ${asked} did not fit.`;
}

function notEnough(figures: OomFigures, lack: string): string {
  const { requestedBytes, allocatedBytes, reservedBytes, totalBytes: total = Infinity } = figures;
  const asked = formatBytes(requestedBytes);
  // If Windows moved memory to the host, more than the GPU has can be reserved.
  if (requestedBytes > total && reservedBytes <= total)
    return `${asked} was requested at once, and the whole GPU has ${formatBytes(total)}.`;
  return `${formatBytes(allocatedBytes)} of the ${formatBytes(reservedBytes)} that PyTorch held was ${inUse(figures)}, and ${asked} more was requested.${lack === '' ? '' : ` ${sentenceCase(lack)}.`}`;
}

const inUse = ({ strandedBytes = 0 }: OomFigures): string =>
  strandedBytes > 0 ? 'in use or free in private pools' : 'in use';

function capSentence(figures: OomFigures): string {
  const { freeBytes } = figures;
  const free = freeBytes === undefined ? '' : `; the GPU still had ${formatBytes(freeBytes)} free`;
  return `Your process hit its own memory limit${limitText(figures)} (set_per_process_memory_fraction)${free}.`;
}

/** ' of 12.00 GiB' if stated, else ' of at least 11.88 GiB': what it had reserved before the request that failed. */
function limitText({ allowedBytes, reservedBytes, peakReservedBytes = 0 }: OomFigures): string {
  if (allowedBytes !== undefined) return ` of ${formatBytes(allowedBytes)}`;
  return ` of at least ${formatBytes(Math.max(reservedBytes, peakReservedBytes))}`;
}

/** Small requests are not served from large segments, nor one stream's from another's. */
const OF_OTHERS = ', of another pool or stream';

function arithmeticOf(figures: OomFigures, gapBytes: number, missing: string): string[] {
  const { requestedBytes, allocatedBytes, reservedBytes, totalBytes } = figures;
  const isMoved = totalBytes !== undefined && reservedBytes > totalBytes;
  const roomBytes = (figures.peakReservedBytes ?? 0) - reservedBytes;
  const isOther = (figures.largestFreeBytes ?? 0) >= requestedBytes;
  return [
    `requested ${formatBytes(requestedBytes)}`,
    `reserved ${formatBytes(reservedBytes)} − ${inUse(figures)} ${formatBytes(allocatedBytes)} = ${formatBytes(gapBytes)} free`,
    ...lineIfKnown('largest free piece', figures.largestFreeBytes, isOther ? OF_OTHERS : ''),
    ...lineIfKnown('free on the GPU', figures.freeBytes),
    ...lineIfKnown('limit of this process', figures.allowedBytes),
    ...lineIfKnown(
      'room below the most that was reserved before',
      roomBytes > 0 ? roomBytes : undefined,
    ),
    ...lineIfKnown(
      "reserved is more than the GPU's",
      isMoved ? totalBytes : undefined,
      ': the driver moved the rest to system memory',
    ),
    ...outsideLines(figures),
    `missing if all that was free were one piece: ${missing}`,
  ];
}

/** What is neither free nor PyTorch's, told apart as far as it is known. */
function outsideLines(figures: OomFigures): string[] {
  const { otherBytes, othersBytes, otherProcesses = [] } = figures;
  if (othersBytes === undefined) return lineIfKnown(NOT_APART, otherBytes);
  const pids = otherProcesses.map(({ pid }) => pid).join(', ');
  return [
    ...lineIfKnown(OWN_OUTSIDE, ownOutside(figures), ` (${OUTSIDE_IS})`),
    ...lineIfKnown(OTHERS, othersBytes, pids === '' ? '' : ` (${pids})`),
  ];
}

export const lineIfKnown = (label: string, bytes: number | undefined, more = ''): string[] =>
  bytes === undefined ? [] : [`${label} ${formatBytes(bytes)}${more}`];

/** The account's remedies are filed under these causes. */
const REMEDIED_AS = {
  fragmented: 'fragmentation',
  both: 'fragmentation',
  'too-large': 'activations',
  'other-processes': 'other-processes',
  'outside-pytorch': 'process-rest',
  'driver-refused': 'unknown',
} as const satisfies Readonly<Record<string, Cause>>;

/** Few gaps don't help, unless gaps and free memory together are just enough. */
function adviceOf(
  cause: OomCause,
  missingBytes: number,
  circumstances: Pick<Circumstances, 'isCapped' | 'hadRoom' | 'isServer'>,
): readonly string[] {
  const own = adviceFor(REMEDIED_AS[cause], undefined, { ...circumstances, hasFailed: true });
  if (cause === 'both') {
    const { isServer } = circumstances;
    return [...own, ...adviceFor('activations', undefined, { isServer }).slice(0, 2)];
  }
  if (cause !== 'too-large') return own;
  return [
    ...own,
    missingBytes === 0
      ? 'expandable_segments:True may just help: the gaps and what was free are enough together, but not in one piece.'
      : 'expandable_segments would not help: there are hardly any gaps.',
  ];
}
