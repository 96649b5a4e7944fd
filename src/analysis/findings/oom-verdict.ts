/**
 * Why an allocation failed, from its figures alone: used for OOM events and for pasted messages.
 * Unknown figures are undefined, and what depends on them is left unsaid.
 */
import { formatBytes, formatPercent } from '../../base/format.ts';

export interface OomFigures {
  readonly requestedBytes: number;
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  /** Largest contiguous free range in PyTorch's segments. */
  readonly largestFreeBytes?: number | undefined;
  readonly deviceFreeBytes?: number | undefined;
  readonly deviceTotalBytes?: number | undefined;
  /** set_per_process_memory_fraction, where the message says it. */
  readonly allowedBytes?: number | undefined;
  /** The most that was ever reserved: a limit on the process is no lower. */
  readonly peakReservedBytes?: number | undefined;
  /** A limit on the process would have been stated: without one, there is none. Messages state it, events do not. */
  readonly isLimitStated?: boolean;
  /** What other processes and non-PyTorch memory take, where the message lists it. */
  readonly otherBytes?: number | undefined;
}

export type OomCause =
  | 'too-large'
  | 'fragmented'
  | 'both'
  | 'others-on-the-card'
  | 'driver-refused';

export interface OomVerdict {
  readonly cause: OomCause;
  /** The process may not take what the device still has free. */
  readonly isCapped: boolean;
  /** Bytes that would have to be freed for the request to fit, were everything packed. */
  readonly missingBytes: number;
  readonly claim: string;
  /** The claim without its first words: what was requested, and what there was. */
  readonly why: string;
  /** 'Out of memory because the memory is fragmented: …' */
  readonly headline: string;
  /** The headline in a line and a half. */
  readonly brief: string;
  /** That it failed at a limit on the process, in one sentence; undefined where it did not. */
  readonly limit: string | undefined;
  /** The arithmetic, line by line. */
  readonly arithmetic: readonly string[];
  readonly advice: readonly string[];
}

/** Gaps below this share of what is reserved are in every program; below this share of the request they help nothing. */
const MIN_GAP_SHARE = 0.1;
const BOTH_GAP_SHARE = 0.25;
/** Others take so much of the card that this program is not the main thing on it. */
const OTHERS_SHARE = 0.3;
/** No GPU that PyTorch runs on is smaller: where a process sees less, others have the rest. */
const SMALLEST_DEVICE_BYTES = 4 * 2 ** 30;

export function judgeOom(figures: OomFigures): OomVerdict {
  const { requestedBytes, allocatedBytes, reservedBytes, deviceFreeBytes } = figures;
  const gapBytes = Math.max(0, reservedBytes - allocatedBytes);
  const isCapped = hitsLimit(figures);
  const room = isCapped
    ? Math.max(0, (figures.allowedBytes ?? reservedBytes) - reservedBytes)
    : deviceFreeBytes;
  const missingBytes = Math.max(0, requestedBytes - gapBytes - (room ?? 0));
  const cause = causeOf(figures, gapBytes, isCapped);
  const limit = isCapped ? capSentence(figures) : undefined;
  const why = whyOf(figures, cause, gapBytes, missingBytes);
  const isOwnLimit = isCapped && cause === 'too-large';
  const because = isOwnLimit
    ? ` at your process's own limit${limitText(figures)} (set_per_process_memory_fraction)${besideText(figures)}`
    : CAUSES[cause].because;
  return {
    cause,
    isCapped,
    missingBytes,
    why,
    claim: `${CAUSES[cause].name}: ${why}${limit === undefined ? '' : ` ${limit}`}`,
    limit,
    headline: `Out of memory${because}: ${why}`,
    brief: isOwnLimit ? briefLimit(figures) : `Out of memory: ${briefOf(figures, cause, gapBytes)}`,
    arithmetic: arithmeticOf(figures, gapBytes, missingBytes),
    advice: adviceOf(cause, isCapped, missingBytes),
  };
}

/**
 * A stated limit is what failed if it is what the request would have passed, or if the device had
 * room. Where no limit is stated because nothing would state it, room on the device points to one.
 */
function hitsLimit(figures: OomFigures): boolean {
  const { requestedBytes, reservedBytes, allowedBytes } = figures;
  if (allowedBytes === undefined) return figures.isLimitStated !== true && deviceHadRoom(figures);
  return deviceHadRoom(figures) || reservedBytes + segmentBytes(requestedBytes) > allowedBytes;
}

const deviceHadRoom = ({ deviceFreeBytes, requestedBytes }: OomFigures): boolean =>
  deviceFreeBytes !== undefined && deviceFreeBytes >= segmentBytes(requestedBytes);

/** What the allocator would ask the driver for: 2 MiB, 20 MiB, or whole 2 MiB from 10 MiB on. */
function segmentBytes(requestedBytes: number): number {
  if (requestedBytes <= 2 ** 20) return 2 * 2 ** 20;
  if (requestedBytes < 10 * 2 ** 20) return 20 * 2 ** 20;
  return Math.ceil(requestedBytes / 2 ** 21) * 2 ** 21;
}

function causeOf(figures: OomFigures, gapBytes: number, isCapped: boolean): OomCause {
  const { requestedBytes, reservedBytes, otherBytes, deviceTotalBytes } = figures;
  const share = reservedBytes > 0 ? gapBytes / reservedBytes : 0;
  if (gapBytes >= requestedBytes && share >= MIN_GAP_SHARE) return 'fragmented';
  if (share >= BOTH_GAP_SHARE && gapBytes >= MIN_GAP_SHARE * requestedBytes) return 'both';
  const others = otherBytes !== undefined && deviceTotalBytes !== undefined;
  if (isCapped) return 'too-large';
  if (deviceHadRoom(figures)) return 'driver-refused';
  if (others && otherBytes >= OTHERS_SHARE * deviceTotalBytes) return 'others-on-the-card';
  return seesLittle(figures) ? 'others-on-the-card' : 'too-large';
}

/** Of an event, which does not say how large the device is: all that this process has and could get is less than any has. */
function seesLittle(figures: OomFigures): boolean {
  const { reservedBytes, deviceFreeBytes, deviceTotalBytes, isLimitStated } = figures;
  if (isLimitStated === true || deviceTotalBytes !== undefined) return false;
  return deviceFreeBytes !== undefined && reservedBytes + deviceFreeBytes < SMALLEST_DEVICE_BYTES;
}

const CAUSES: Readonly<Record<OomCause, { readonly name: string; readonly because: string }>> = {
  fragmented: { name: 'Fragmentation', because: ' because the memory is fragmented' },
  both: {
    name: 'Not enough memory, and fragmented',
    because: ': not enough memory, and fragmented',
  },
  'too-large': { name: 'Not enough memory', because: '' },
  'others-on-the-card': {
    name: 'The GPU is shared',
    because: ' because something else uses the GPU too',
  },
  'driver-refused': { name: 'The driver refused', because: ' although the GPU had room' },
};

function whyOf(
  figures: OomFigures,
  cause: OomCause,
  gapBytes: number,
  missingBytes: number,
): string {
  const asked = formatBytes(figures.requestedBytes);
  const gap = `${formatBytes(gapBytes)} (${formatPercent(gapBytes / Math.max(1, figures.reservedBytes))} of what PyTorch holds)`;
  const sentences: Record<OomCause, string> = {
    fragmented: `${asked} did not fit in one piece, although ${gap} was free.`,
    both: `${asked} was requested; ${gap} was free in smaller pieces, and all of them together were too small.`,
    'too-large': notEnough(figures, missingBytes),
    'others-on-the-card': othersText(figures, asked),
    'driver-refused': `${asked} was requested and the GPU reported ${formatBytes(figures.deviceFreeBytes ?? Number.NaN)} free, but the driver refused it. We can't tell why from these figures.`,
  };
  return sentences[cause];
}

function briefOf(figures: OomFigures, cause: OomCause, gapBytes: number): string {
  const asked = formatBytes(figures.requestedBytes);
  const sentences: Record<OomCause, string> = {
    fragmented: `fragmented. ${formatBytes(gapBytes)} is free in gaps.`,
    both: `too little memory, and ${formatBytes(gapBytes)} of it in gaps.`,
    'too-large': `${formatBytes(figures.allocatedBytes)} in use, and ${asked} more did not fit.`,
    'others-on-the-card': `something else uses this GPU too.`,
    'driver-refused': `the driver refused ${asked}, though the GPU had room.`,
  };
  return sentences[cause];
}

function othersText(figures: OomFigures, asked: string): string {
  const { otherBytes, reservedBytes, deviceFreeBytes = 0 } = figures;
  if (otherBytes !== undefined) {
    return `${formatBytes(otherBytes)} of it is not your program's PyTorch memory, and ${asked} did not fit in the rest.`;
  }
  return `PyTorch held ${formatBytes(reservedBytes)} of the GPU and ${formatBytes(deviceFreeBytes)} was free. No GPU is so small, so other processes hold the rest, and ${asked} did not fit.`;
}

function notEnough(figures: OomFigures, missingBytes: number): string {
  const { requestedBytes, allocatedBytes, reservedBytes, deviceTotalBytes } = figures;
  const asked = formatBytes(requestedBytes);
  const total = deviceTotalBytes ?? Number.POSITIVE_INFINITY;
  // Where Windows has moved memory to the host, more than the GPU has can be reserved.
  if (requestedBytes > total && reservedBytes <= total) {
    return `${asked} was requested at once, and the whole GPU has ${formatBytes(total)}.`;
  }
  const missing = missingBytes > 0 ? ` At least ${formatBytes(missingBytes)} was missing.` : '';
  return `${formatBytes(allocatedBytes)} of the ${formatBytes(reservedBytes)} that PyTorch held was in use, and ${asked} more was requested.${missing}`;
}

function briefLimit(figures: OomFigures): string {
  const limit = limitText(figures).replace(/^ of /, '');
  return limit === ''
    ? 'Out of memory: your process hit its own limit.'
    : `Out of memory: your process is limited to ${limit}.`;
}

const besideText = ({ deviceFreeBytes }: OomFigures): string =>
  deviceFreeBytes === undefined ? '' : `, with ${formatBytes(deviceFreeBytes)} of the GPU free`;

function capSentence(figures: OomFigures): string {
  const { deviceFreeBytes } = figures;
  const free =
    deviceFreeBytes === undefined ? '' : `; the GPU still had ${formatBytes(deviceFreeBytes)} free`;
  return `Your process hit its own memory limit${limitText(figures)} (set_per_process_memory_fraction)${free}.`;
}

/** Of the limit, how far what was refused may reach above what was reserved for it to be known well enough. */
const MAX_UNSURE_SHARE = 0.15;

/**
 * ' of 12.00 GiB' as stated; ' of about 12 GiB' where it lies between what was reserved and what the refused segment
 * would have come to; '' where these are far apart.
 */
function limitText({ allowedBytes, requestedBytes, ...figures }: OomFigures): string {
  if (allowedBytes !== undefined) return ` of ${formatBytes(allowedBytes)}`;
  const atLeast = Math.max(figures.reservedBytes, figures.peakReservedBytes ?? 0);
  const below = figures.reservedBytes + segmentBytes(requestedBytes);
  const isKnown = below > atLeast && below - atLeast <= MAX_UNSURE_SHARE * atLeast;
  return isKnown ? ` of about ${roughBytes(atLeast)}` : '';
}

/** Two digits: '12 GiB' of 11.88, '3.9 GiB' of 3.89. */
function roughBytes(bytes: number): string {
  const [figure = '', unit = ''] = formatBytes(bytes).split(' ');
  return `${Number(Number(figure).toPrecision(2))} ${unit}`;
}

function arithmeticOf(figures: OomFigures, gapBytes: number, missingBytes: number): string[] {
  const { requestedBytes, allocatedBytes, reservedBytes, largestFreeBytes, deviceFreeBytes } =
    figures;
  const lines = [
    `requested ${formatBytes(requestedBytes)}`,
    `reserved ${formatBytes(reservedBytes)} − in use ${formatBytes(allocatedBytes)} = ${formatBytes(gapBytes)} free`,
  ];
  if (largestFreeBytes !== undefined)
    lines.push(`largest free piece ${formatBytes(largestFreeBytes)}`);
  if (deviceFreeBytes !== undefined) lines.push(`free on the GPU ${formatBytes(deviceFreeBytes)}`);
  if (figures.allowedBytes !== undefined) {
    lines.push(`limit of this process ${formatBytes(figures.allowedBytes)}`);
  }
  if (figures.deviceTotalBytes !== undefined && reservedBytes > figures.deviceTotalBytes) {
    lines.push(
      `reserved is more than the GPU's ${formatBytes(figures.deviceTotalBytes)}: the driver moved the rest to system memory`,
    );
  }
  if (figures.otherBytes !== undefined) {
    lines.push(`other processes and non-PyTorch memory ${formatBytes(figures.otherBytes)}`);
  }
  lines.push(`missing if all that was free were one piece: ${formatBytes(missingBytes)}`);
  return lines;
}

const CAP_ADVICE = [
  'Raise or remove torch.cuda.set_per_process_memory_fraction, if the rest of the GPU is yours.',
];

/** Of a limit there is more to say, unless gaps use it up: they are closed first. */
function adviceOf(cause: OomCause, isCapped: boolean, missingBytes: number): readonly string[] {
  const own = ADVICE[cause];
  const cap = isCapped ? CAP_ADVICE : [];
  const hasGaps = cause === 'fragmented' || cause === 'both';
  const first = hasGaps ? [own[0], ...cap, ...own.slice(1)] : [...cap, ...own];
  return [...first, ...gapAdvice(cause, missingBytes)];
}

/** Few gaps are of no use, unless they and what is free are just enough together. */
function gapAdvice(cause: OomCause, missingBytes: number): readonly string[] {
  if (cause !== 'too-large') return [];
  return missingBytes === 0
    ? [
        'expandable_segments:True may just help: the gaps and what was free are enough together, but not in one piece.',
      ]
    : ['expandable_segments would not help: there are hardly any gaps.'];
}

const ADVICE: Readonly<Record<OomCause, readonly string[]>> = {
  fragmented: [
    'Set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older versions) before the program starts: segments then grow in place, and gaps close up.',
    'Make sizes repeat: pad to a few lengths, drop the last smaller batch, run the largest batch first.',
    'Free or move what lives long between big temporaries (see fragmentation: what pins the segments).',
  ],
  both: [
    'Set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older versions) first: it closes the gaps, which are a large part of this.',
    'Then reduce what is needed at the peak: a smaller batch, checkpointing, lower precision.',
  ],
  'too-large': [
    'Reduce what is live at the peak: a smaller batch with gradient accumulation, activation checkpointing, bf16 autocast.',
  ],
  'others-on-the-card': [
    'Run nvidia-smi (rocm-smi, xpu-smi) to see who uses the GPU; end stale processes, or choose another GPU with CUDA_VISIBLE_DEVICES.',
    'Then see whether your program alone fits.',
  ],
  'driver-refused': [
    'Look for a limit outside PyTorch: the memory of the container, job or WSL, the Windows page file, pinned memory (ulimit -l), a largest size per allocation (4 GiB on some Intel GPUs).',
    'Try one smaller allocation: a smaller batch, or a tensor split in chunks. If that passes, the size of one request is the limit.',
  ],
};
