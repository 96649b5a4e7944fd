/** What was clicked, in the graph or in the table, as one thing to speak about. */
import type { FlameGroup, FlameRow } from '../../core/query/flame/types.ts';
import type { FrameView } from '../../core/query/types.ts';
import type { BoxIndex, FlameLayout } from './flame-layout.ts';

/** By what outlives a new answer: a path in the graph, or a row as it was. */
export type Chosen =
  | { readonly kind: 'box'; readonly path: string }
  | { readonly kind: 'row'; readonly row: FlameRow };

export interface FlameSelection {
  readonly group: FlameGroup;
  readonly value: number;
  readonly count: number;
  /** Its part of the whole's width. */
  readonly magnitude: number;
  /** What no frame inside it holds; undefined where it is not known. */
  readonly self: number | undefined;
  /** Frames of the stack so far, innermost first; undefined where there are many. */
  readonly frames: readonly FrameView[] | undefined;
  /** The row's stack, whose frames are to be asked for; -1 for none. */
  readonly stack: number;
}

/** The box that is selected: the one clicked, or the one of a stack chosen in the table. */
export function selectedBox(
  chosen: Chosen | undefined,
  layout: FlameLayout,
  isInverted: boolean,
): BoxIndex | undefined {
  if (chosen === undefined) return undefined;
  if (chosen.kind === 'box') return layout.boxOfPath(chosen.path);
  // Paths of rows begin at the outermost caller, as the boxes do unless they are turned round.
  const keys = chosen.row.stack < 0 ? [] : chosen.row.key.split('.');
  if (isInverted) keys.reverse();
  return keys.length === 0 ? undefined : layout.boxOfPath(keys.join('.'));
}

/** Undefined when the box is not there any more, or too small to see. */
export function selectionOf(
  chosen: Chosen,
  layout: FlameLayout,
  isInverted: boolean,
): FlameSelection | undefined {
  if (chosen.kind === 'row') {
    const { group, self, total, count, stack } = chosen.row;
    const magnitude = Math.abs(total);
    return { group, value: total, count, magnitude, self, frames: undefined, stack };
  }
  const box = layout.boxOfPath(chosen.path);
  const ancestry = box === undefined ? [] : layout.ancestry(box);
  const group = ancestry.at(-1);
  if (box === undefined || group === undefined) return undefined;
  const { value, magnitude, count, selfMagnitude } = layout.graph.boxes;
  const frames = ancestry.flatMap((step) => (step.kind === 'frame' ? [step.frame] : []));
  return {
    group,
    value: value[box] ?? 0,
    count: count[box] ?? 0,
    magnitude: magnitude[box] ?? 0,
    self: isInverted ? undefined : (selfMagnitude[box] ?? 0),
    frames: isInverted ? frames : frames.reverse(),
    stack: -1,
  };
}
