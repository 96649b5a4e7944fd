import { plural } from '../../core/base/format.ts';
import type { DeviceInfo } from '../../core/device/types.ts';
import type { Recording } from '../../core/replay/types.ts';

interface RecordingText {
  readonly short: string;
  /** A few words on what it hides. */
  readonly note: (device: DeviceInfo) => string;
}

const blocksBefore = ({ preexisting }: DeviceInfo): string =>
  `${plural(preexisting, 'block')} from before`;

export const RECORDING_TEXT: Readonly<Record<Recording, RecordingText>> = {
  complete: { short: 'complete', note: () => 'from the first byte' },
  preexisting: { short: 'began late', note: blocksBefore },
  truncated: { short: 'cut off', note: () => 'oldest events lost' },
  none: { short: 'no history', note: () => 'final state only' },
};
