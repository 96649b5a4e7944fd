import type { CounterName, Recording } from '../../allocator/replay/types.ts';
import { formatCount, plural } from '../../base/format.ts';
import type { DeviceInfo, SessionInfo } from '../../device/model/device-info.ts';

export interface Note {
  readonly code: string;
  readonly text: string;
}

/** What the reader should know before trusting the picture, most severe first. */
export function notesOf({ file, warnings }: SessionInfo, device: DeviceInfo): readonly Note[] {
  const notes: Note[] = [];
  if (file.partial !== undefined) notes.push({ code: 'partial-file', text: file.partial });
  if (device.recording !== 'complete') {
    notes.push({ code: `recording-${device.recording}`, text: recordingText(device) });
  }
  if (device.anomalies > 0) notes.push({ code: 'anomalies', text: anomalyText(device) });
  for (const { code, message } of warnings) {
    if (code !== 'partial-file') notes.push({ code, text: message });
  }
  return notes;
}

function recordingText(device: DeviceInfo): string {
  const { recordingReason, preexisting, preexistingWithoutStack: unknown, events } = device;
  if (preexisting === 0 || events === 0) return recordingReason;
  const blocks = preexisting === 1 ? 'the block' : `the ${formatCount(preexisting)} blocks`;
  const when = unknown === preexisting ? 'when or by which line' : 'when';
  const line =
    unknown > 0 && unknown < preexisting
      ? `, nor by which line ${formatCount(unknown)} of them`
      : '';
  return `${recordingReason} The file does not say ${when} ${blocks} from before were allocated${line}.`;
}

function anomalyText({ anomalies }: DeviceInfo): string {
  return anomalies === 1
    ? '1 event contradicts earlier ones; figures after it may be off.'
    : `${formatCount(anomalies)} events contradict earlier ones; figures after them may be off.`;
}

const blocksBefore = ({ preexisting }: DeviceInfo): string =>
  `${plural(preexisting, 'block')} from before`;

/** In a word, and what the recording lacks in a few. */
export const RECORDING_TEXT: Readonly<
  Record<Recording, { short: string; note: (device: DeviceInfo) => string }>
> = {
  complete: { short: 'complete', note: () => 'from the first allocation' },
  preexisting: { short: 'began late', note: blocksBefore },
  truncated: { short: 'truncated', note: () => 'oldest events dropped' },
  none: { short: 'no history', note: () => 'final state only' },
};

/** The five counters in PyTorch's words, best known first; `about` is a sentence for a tooltip. */
export const COUNTERS: readonly Readonly<
  Record<'label' | 'about', string> & { name: CounterName }
>[] = [
  {
    name: 'allocatedBytes',
    label: 'Allocated',
    about: 'Blocks in use by tensors, as memory_allocated() counts them.',
  },
  {
    name: 'activeBytes',
    label: 'Active',
    about: 'Allocated blocks plus freed blocks that another stream may still use.',
  },
  {
    name: 'reservedBytes',
    label: 'Reserved',
    about: 'Memory that PyTorch has taken from the device: in use or cached.',
  },
  {
    name: 'requestedBytes',
    label: 'Requested',
    about: 'Bytes your program requested, before rounding up to block sizes.',
  },
  {
    name: 'inactiveSplitBytes',
    label: 'Inactive split',
    about: 'Free memory in segments that are partly in use. empty_cache() cannot release it.',
  },
];
