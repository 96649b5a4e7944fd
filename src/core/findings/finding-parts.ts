/** Pieces that all detectors' findings are made of. */
import { fileName } from '../base/file-names.ts';
import type { FrameView, StackView } from '../device/types.ts';
import type { AllocationIndex } from '../replay/types.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import { type AddressGap, type DetectorId, type Evidence, MAX_EVIDENCE } from './types.ts';

/** Points of a small plot: more cannot be seen. */
const MAX_POINTS = 240;

/**
 * Rows that the page can select. Of more than MAX_EVIDENCE allocations the largest are listed, and
 * `allocationCount` says how many there are; stacks are listed once each.
 */
export function evidence(
  study: AnalysisContext,
  allocations: ArrayLike<AllocationIndex>,
  stacks: readonly StackIndex[],
  gaps: readonly AddressGap[] = [],
): Evidence {
  const { sizeBytes } = study.input.replay.allocations;
  let largest = Array.from(allocations);
  if (largest.length > MAX_EVIDENCE) {
    largest = largest.sort((a, b) => sizeBytes[b] - sizeBytes[a]).slice(0, MAX_EVIDENCE);
  }
  return {
    allocations: largest,
    allocationCount: allocations.length,
    stacks: [...new Set(stacks)],
    gaps,
  };
}

/** Where a finding points to. `first`: the frame to look at where it is not the innermost user frame. */
export function place(
  { input }: AnalysisContext,
  stack: StackIndex | undefined,
  first?: number,
): { frame: FrameView | undefined; stack: readonly FrameView[]; stackKind: StackView['kind'] } {
  if (stack === undefined) return { frame: undefined, stack: [], stackKind: 'no-context' };
  const view = input.stacks.view(stack);
  const frame =
    first === undefined ? input.stacks.topUserFrameView(stack) : input.stacks.frame(first);
  return { frame, stack: view.frames.filter(({ role }) => role !== 'noise'), stackKind: view.kind };
}

/**
 * The same for the same cause in another recording: file names without folders, functions, no line
 * numbers (they move with every edit), no addresses.
 */
export function fingerprint(
  { input }: AnalysisContext,
  detector: DetectorId,
  kind: string,
  stack: StackIndex | undefined,
): string {
  const frames = stack === undefined ? [] : input.stacks.view(stack).frames;
  const users = frames.filter(({ role }) => role === 'user');
  const names = users.map(({ filename, name }) => `${fileName(filename)}:${name}`);
  return [detector, kind, ...names.slice(0, 8)].join('|');
}

/** At most MAX_POINTS of them, evenly, the last always. */
export function thinned<T>(points: ArrayLike<T>): T[] {
  const all = Array.from(points);
  if (all.length <= MAX_POINTS) return all;
  return Array.from(
    { length: MAX_POINTS },
    (_, i) => all[Math.round((i * (all.length - 1)) / (MAX_POINTS - 1))],
  );
}
