import { expect, it } from 'vitest';
import type { DeviceInfo, SessionInfo } from '../../device/model/device-info.ts';
import { notesOf } from './device-labels.ts';

const noteOn = (preexisting: number, preexistingWithoutStack: number) => {
  const session = { file: {}, warnings: [] } as unknown as SessionInfo;
  const counts = { preexisting, preexistingWithoutStack, events: 9, anomalies: 0 };
  const device = { ...counts, recording: 'truncated', recordingReason: 'It is full.' };
  return notesOf(session, device as unknown as DeviceInfo)[0]?.text;
};

it('says by which line blocks from before were allocated is unknown only of those without a stack', () => {
  expect(noteOn(674, 243)).toBe(
    'It is full. The file does not say when the 674 blocks from before were allocated, nor by which line 243 of them.',
  );
  expect(noteOn(5, 5)).toContain('when or by which line the 5 blocks from before were allocated.');
  expect(noteOn(5, 0)).toContain('does not say when the 5 blocks from before were allocated.');
});
