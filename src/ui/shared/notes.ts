import { formatCount } from '../../core/base/format.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';

export interface Note {
  readonly code: string;
  readonly text: string;
}

/** All that the reader should know before trusting the picture, the most severe first. */
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

/** Why, and what it hides. */
function recordingText({ recordingReason, preexisting, events }: DeviceInfo): string {
  if (preexisting === 0 || events === 0) return recordingReason;
  const blocks = preexisting === 1 ? 'the block' : `the ${formatCount(preexisting)} blocks`;
  return `${recordingReason} Who allocated ${blocks} from before is not in the file, nor when.`;
}

function anomalyText({ anomalies }: DeviceInfo): string {
  return anomalies === 1
    ? '1 event contradicts the events before it; figures after it may be off.'
    : `${formatCount(anomalies)} events contradict those before them; figures after them may be off.`;
}
