/** Explains a pasted out-of-memory message: fully if it has every figure, otherwise as far as its figures allow. */
import { formatBytes } from '../../base/format.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';
import {
  judgeOom,
  type ListedProcess,
  lineIfKnown,
  type OomFigures,
  type OomVerdict,
  refusedText,
} from './oom-verdict.ts';

/** The figures of a message; undefined, never 0, if the text does not state one. */
export interface OomMessage
  extends Omit<OomFigures, 'allocatedBytes' | 'reservedBytes' | 'isLimitStated'> {
  readonly allocator: 'native' | 'cudaMallocAsync' | 'MPS';
  readonly device?: number | undefined;
  readonly allocatedBytes?: number | undefined;
  readonly reservedBytes?: number | undefined;
  /** The most that one allocation may have, if that limit failed (some Intel GPUs). */
  readonly largestBytes?: number | undefined;
  /** This process, including CUDA's context and other libraries. */
  readonly processBytes?: number | undefined;
  readonly privatePoolBytes?: number | undefined;
  readonly otherProcesses: readonly ListedProcess[];
}

export interface MessageVerdict extends Pick<OomVerdict, 'text' | 'arithmetic' | 'advice'> {
  readonly cause: OomVerdict['cause'] | PartCause;
  /** That it failed at a limit, or what the text leaves open; undefined if there is nothing to add. */
  readonly also: string | undefined;
}

export function judgeMessage(message: OomMessage): MessageVerdict {
  const { requestedBytes, allocatedBytes, reservedBytes, freeBytes, allowedBytes } = message;
  if (allocatedBytes === undefined || reservedBytes === undefined) return judgePart(message);
  const isRoomKnown = freeBytes !== undefined || allowedBytes !== undefined;
  if (!isRoomKnown && reservedBytes - allocatedBytes < requestedBytes) return judgePart(message);
  const known = { ...message, ...othersOf(message), allocatedBytes, reservedBytes };
  const verdict = judgeOom({ ...known, isLimitStated: true });
  return {
    cause: verdict.cause,
    text: `Out of memory: ${verdict.text}`,
    also: verdict.limit,
    arithmetic: [
      ...verdict.arithmetic,
      ...lineIfKnown(
        'in private pools such as CUDA graphs',
        message.privatePoolBytes,
        ' of what is in use',
      ),
    ],
    advice: verdict.advice,
  };
}

/** Other processes are what is neither free nor this process's; as listed, if no total is known. */
function othersOf({ totalBytes, freeBytes, processBytes, otherProcesses, ...own }: OomMessage) {
  const { reservedBytes = Number.NaN, otherBytes = Number.NaN } = own;
  const others = Number(totalBytes) - Number(freeBytes) - Number(processBytes);
  // A process that has less than PyTorch reserved in it was counted wrong (WSL, containers).
  const isKnown = others >= 0 && Number(processBytes) >= reservedBytes && others <= otherBytes;
  return isKnown ? { othersBytes: others, otherProcesses } : {};
}

/** Some figures are missing: compares the request with the limit and with what was free. */
function judgePart(message: OomMessage): MessageVerdict {
  const cause = causeOf(message);
  return {
    cause,
    text: `Out of memory: ${SENTENCES[cause](message)}`,
    also: message.reservedBytes === undefined ? unsaid(message) : undefined,
    arithmetic: arithmeticOf(message),
    advice: [
      ...(message.allocator === 'native' ? [] : ALLOCATOR_ADVICE[message.allocator]),
      ...(cause === 'driver-refused'
        ? adviceFor('unknown', undefined, { hasFailed: true })
        : PART_ADVICE[cause]),
    ],
  };
}

type PartCause = keyof typeof SENTENCES;

function causeOf(message: OomMessage): PartCause {
  const { requestedBytes, freeBytes, totalBytes } = message;
  if (message.largestBytes !== undefined) return 'allocation-limit';
  if (isAboveLimit(message)) return 'limit';
  if (totalBytes !== undefined && requestedBytes > totalBytes) return 'too-large';
  if (freeBytes === undefined) return 'cannot-tell';
  return freeBytes >= requestedBytes ? 'driver-refused' : 'too-large';
}

/** Printed figures have two decimals, so a sum may be half a unit per figure below the limit. */
const ROUNDING = 0.002;

function isAboveLimit({ requestedBytes, allocatedBytes, otherBytes, allowedBytes }: OomMessage) {
  if (allowedBytes === undefined || allocatedBytes === undefined) return false;
  return requestedBytes + allocatedBytes + (otherBytes ?? 0) > allowedBytes * (1 - ROUNDING);
}

const SENTENCES = {
  limit: ({ requestedBytes, allocatedBytes, otherBytes, allowedBytes }) =>
    `${formatBytes((allocatedBytes ?? 0) + (otherBytes ?? 0))} was in use, ${formatBytes(requestedBytes)} more was requested, and the limit is ${said(allowedBytes)}.`,
  'allocation-limit': ({ requestedBytes, largestBytes }) =>
    `${formatBytes(requestedBytes)} was requested at once, and this GPU gives at most ${said(largestBytes)} to one allocation.`,
  'too-large': ({ requestedBytes, freeBytes, totalBytes }) =>
    totalBytes !== undefined && requestedBytes > totalBytes
      ? `${formatBytes(requestedBytes)} was requested at once, and the whole GPU has ${formatBytes(totalBytes)}.`
      : `${formatBytes(requestedBytes)} was requested, and the GPU had ${said(freeBytes)} free.`,
  'driver-refused': refusedText,
  'cannot-tell': ({ requestedBytes }) =>
    `${formatBytes(requestedBytes)} was requested. We can't tell what was missing: the message does not say how much was free.`,
} as const satisfies Readonly<Record<string, (message: OomMessage) => string>>;

const UNSAID = 'unknown: the message does not say';
const said = (bytes: number | undefined): string =>
  bytes === undefined ? UNSAID : formatBytes(bytes);

function unsaid({ allocator }: OomMessage): string {
  return allocator === 'native'
    ? 'We can’t tell whether the memory is fragmented: the message ends before it says what PyTorch had allocated and reserved.'
    : 'We can’t tell whether the memory is fragmented: this allocator does not say what it holds beside live tensors.';
}

function arithmeticOf(message: OomMessage): string[] {
  const { requestedBytes, allocatedBytes, totalBytes, freeBytes, allowedBytes, otherBytes } =
    message;
  const rest =
    (totalBytes ?? Number.NaN) - (freeBytes ?? Number.NaN) - (allocatedBytes ?? Number.NaN);
  return [
    `requested ${formatBytes(requestedBytes)}`,
    `in use by PyTorch ${said(allocatedBytes)}`,
    `reserved by PyTorch ${said(message.reservedBytes)}`,
    ...lineIfKnown('other allocations', otherBytes),
    ...lineIfKnown('limit', allowedBytes),
    ...lineIfKnown('free on the GPU', freeBytes),
    ...lineIfKnown(
      'GPU',
      Number.isNaN(rest) ? undefined : totalBytes,
      ` − free − in use = ${formatBytes(rest)} held by something else: memory kept for reuse, gaps, CUDA's context or other processes`,
    ),
  ];
}

const ALLOCATOR_ADVICE: Readonly<
  Record<Exclude<OomMessage['allocator'], 'native'>, readonly string[]>
> = {
  cudaMallocAsync: [
    'cudaMallocAsync records no snapshot. To see what fills the memory, use PyTorch’s own allocator: start ComfyUI with --disable-cuda-malloc, elsewhere set PYTORCH_ALLOC_CONF=backend:native (PYTORCH_CUDA_ALLOC_CONF in older versions).',
    'Run nvidia-smi to see whether other processes hold the rest of the GPU.',
  ],
  MPS: [
    'Close other programs that use the GPU: on a Mac they share its memory (“other allocations”).',
  ],
};

const LESS =
  'Reduce what is live at the peak: a smaller batch or image, lower precision, offloading.';

const PART_ADVICE: Readonly<Record<Exclude<PartCause, 'driver-refused'>, readonly string[]>> = {
  limit: [
    LESS,
    'Raise the limit, if the rest of the memory is yours: torch.cuda.set_per_process_memory_fraction, on a Mac PYTORCH_MPS_HIGH_WATERMARK_RATIO.',
  ],
  'allocation-limit': [
    'Make this one tensor smaller: a smaller batch, or split it in chunks. Intel’s driver lifts the limit with UR_L0_USE_RELAXED_ALLOCATION_LIMITS=1 where the hardware can.',
  ],
  'too-large': [LESS],
  'cannot-tell': ['Paste the whole message, or record a snapshot.'],
};
