/** The user's functions that only one side has. */
import type { FrameAlignment } from './align-frames.ts';
import type { RunProfile, SideFrame } from './run-profile.ts';
import type { Comparison } from './types.ts';

/** Over the whole run; less is not worth mentioning. */
const NOTABLE_BYTES = 2 ** 20;

/**
 * Lines that allocate in functions without a counterpart. A function's lines may change places: that is not new code.
 */
export function oneSidedFunctions(
  a: RunProfile,
  b: RunProfile,
  { toA }: FrameAlignment,
): Comparison['oneSided'] {
  const knownA = new Set([...toA].filter((frame) => frame >= 0));
  return {
    a: linesOf(a, (frame) => knownA.has(frame)),
    b: linesOf(b, (frame) => toA[frame] >= 0),
  };
}

function linesOf(side: RunProfile, isMatched: (frame: number) => boolean): SideFrame[] {
  const { frames, runs } = side;
  const idOf = ({ filename, name }: SideFrame) => `${filename} ${name}`;
  const matched = new Set(frames.filter((_, frame) => isMatched(frame)).map(idOf));
  const bytes = new Map<SideFrame, number>();
  for (const { stack, totalBytes } of runs) {
    const own = innermostOwn(side, stack);
    if (own === undefined || own.name === '<module>' || matched.has(idOf(own))) continue;
    bytes.set(own, (bytes.get(own) ?? 0) + totalBytes);
  }
  return [...bytes]
    .filter(([, total]) => total >= NOTABLE_BYTES)
    .sort(([, x], [, y]) => y - x)
    .map(([frame]) => frame);
}

function innermostOwn({ frames, stacks }: RunProfile, stack: number): SideFrame | undefined {
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = frames[stacks.frame[row]];
    if (frame.kind === 'user') return frame;
  }
  return undefined;
}
