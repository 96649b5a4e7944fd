import type { FrameView } from '../../core/device/types.ts';

/** Neighbouring frames that are shown, or folded together. */
export interface FrameRun {
  readonly isNoise: boolean;
  readonly frames: readonly FrameView[];
}

/** Cuts a stack where noise begins and ends: [user, noise, noise, library] is three runs. */
export function frameRuns(frames: readonly FrameView[]): readonly FrameRun[] {
  const runs: { isNoise: boolean; frames: FrameView[] }[] = [];
  for (const frame of frames) {
    const isNoise = frame.role === 'noise';
    const last = runs.at(-1);
    if (last?.isNoise === isNoise) last.frames.push(frame);
    else runs.push({ isNoise, frames: [frame] });
  }
  return runs;
}
