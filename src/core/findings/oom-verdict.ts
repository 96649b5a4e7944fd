/**
 * Why an allocation failed, from its figures alone: used for OOM events and for pasted messages.
 * Unknown figures are undefined, and what depends on them is left unsaid.
 */
import { formatBytes } from '../base/format.ts';
import { percent } from './labels.ts';

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
  /** What other processes and non-PyTorch memory take, where the message lists it. */
  readonly otherBytes?: number | undefined;
}

export type OomCause = 'too-large' | 'fragmented' | 'both' | 'others-on-the-card';

export interface OomVerdict {
  readonly cause: OomCause;
  /** The process may not take what the device still has free. */
  readonly isCapped: boolean;
  /** Bytes that would have to be freed for the request to fit, were everything packed. */
  readonly missingBytes: number;
  readonly claim: string;
  /** 'Out of memory because the memory is fragmented: …' */
  readonly headline: string;
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

export function judgeOom(figures: OomFigures): OomVerdict {
  const { requestedBytes, allocatedBytes, reservedBytes, deviceFreeBytes } = figures;
  const gapBytes = Math.max(0, reservedBytes - allocatedBytes);
  const isCapped =
    figures.allowedBytes !== undefined ||
    (deviceFreeBytes !== undefined && deviceFreeBytes >= segmentBytes(requestedBytes));
  const room = isCapped
    ? Math.max(0, (figures.allowedBytes ?? reservedBytes) - reservedBytes)
    : deviceFreeBytes;
  const missingBytes = Math.max(0, requestedBytes - gapBytes - (room ?? 0));
  const cause = causeOf(figures, gapBytes, isCapped);
  const limit = isCapped ? capSentence(figures) : undefined;
  const why = whyOf(figures, cause, gapBytes, missingBytes);
  return {
    cause,
    isCapped,
    missingBytes,
    claim: `${CAUSES[cause].name}: ${why}${limit === undefined ? '' : ` ${limit}`}`,
    limit,
    headline: `Out of memory${CAUSES[cause].because}: ${why}`,
    arithmetic: arithmeticOf(figures, gapBytes, missingBytes),
    advice: [...(isCapped ? CAP_ADVICE : []), ...ADVICE[cause]],
  };
}

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
  if (!isCapped && others && otherBytes >= OTHERS_SHARE * deviceTotalBytes)
    return 'others-on-the-card';
  return 'too-large';
}

const CAUSES: Readonly<Record<OomCause, { readonly name: string; readonly because: string }>> = {
  fragmented: { name: 'Fragmentation', because: ' because the memory is fragmented' },
  both: { name: 'Too large and fragmented', because: ', too large and fragmented' },
  'too-large': { name: 'Truly too large', because: ', truly too large' },
  'others-on-the-card': {
    name: 'The card is shared',
    because: ' because others use the card too',
  },
};

function whyOf(
  figures: OomFigures,
  cause: OomCause,
  gapBytes: number,
  missingBytes: number,
): string {
  const { requestedBytes, allocatedBytes, reservedBytes } = figures;
  const asked = formatBytes(requestedBytes);
  const gap = `${formatBytes(gapBytes)} (${percent(gapBytes / Math.max(1, reservedBytes))} of what PyTorch holds)`;
  const sentences: Record<OomCause, string> = {
    fragmented: `${asked} did not fit in one piece although ${gap} lay free in gaps.`,
    both: `${asked} was asked for; ${gap} lay free in gaps, and even in one piece that would not have been enough.`,
    'too-large': `of ${formatBytes(reservedBytes)} that PyTorch holds, ${formatBytes(allocatedBytes)} was in use when ${asked} more was asked for.${missingBytes > 0 ? ` At least ${formatBytes(missingBytes)} was missing.` : ''}`,
    'others-on-the-card': `${formatBytes(figures.otherBytes ?? Number.NaN)} on it is not this program's PyTorch memory, and ${asked} did not fit into the rest.`,
  };
  return sentences[cause];
}

function capSentence({ allowedBytes, deviceFreeBytes }: OomFigures): string {
  const limit = allowedBytes === undefined ? '' : ` of ${formatBytes(allowedBytes)}`;
  const free =
    deviceFreeBytes === undefined ? '' : `: ${formatBytes(deviceFreeBytes)} of the device was free`;
  return `It failed at a limit${limit} on this process (set_per_process_memory_fraction), not at the end of the card${free}.`;
}

function arithmeticOf(figures: OomFigures, gapBytes: number, missingBytes: number): string[] {
  const { requestedBytes, allocatedBytes, reservedBytes, largestFreeBytes, deviceFreeBytes } =
    figures;
  const lines = [
    `asked for ${formatBytes(requestedBytes)}`,
    `reserved ${formatBytes(reservedBytes)} − in use ${formatBytes(allocatedBytes)} = ${formatBytes(gapBytes)} in gaps`,
  ];
  if (largestFreeBytes !== undefined) lines.push(`largest gap ${formatBytes(largestFreeBytes)}`);
  if (deviceFreeBytes !== undefined)
    lines.push(`free on the device ${formatBytes(deviceFreeBytes)}`);
  if (figures.allowedBytes !== undefined) {
    lines.push(`allowed for this process ${formatBytes(figures.allowedBytes)}`);
  }
  if (figures.otherBytes !== undefined) {
    lines.push(`other processes and non-PyTorch memory ${formatBytes(figures.otherBytes)}`);
  }
  lines.push(`missing if all gaps were one: ${formatBytes(missingBytes)}`);
  return lines;
}

const CAP_ADVICE = [
  'Raise or remove torch.cuda.set_per_process_memory_fraction, if the rest of the card is yours.',
];

const ADVICE: Readonly<Record<OomCause, readonly string[]>> = {
  fragmented: [
    'Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts: segments then grow in place, and gaps close up.',
    'Make sizes repeat: pad to a few lengths, drop the last smaller batch, run the largest batch first.',
    'Free or move what lives long between big temporaries (see fragmentation: what pins the segments).',
  ],
  both: [
    'Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True first: it closes the gaps, which are a large part of this.',
    'Then reduce what is needed at the peak: a smaller batch, checkpointing, lower precision.',
  ],
  'too-large': [
    'Reduce what is alive at the peak: a smaller batch with gradient accumulation, activation checkpointing, bf16 autocast (see peak: what it is made of).',
    'expandable_segments would not help: there are hardly any gaps.',
  ],
  'others-on-the-card': [
    'See who is on the card (nvidia-smi), end stale processes, or choose another with CUDA_VISIBLE_DEVICES.',
    'Then see whether this program alone fits.',
  ],
};
