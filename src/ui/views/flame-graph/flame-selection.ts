/** A selection in the graph or in the table, in one form. */

import { useEffect, useState } from 'react';
import type { FlameGroup, FlameRow } from '../../../device/flame-graph/types.ts';
import { framePath, fullPlace, functionText } from '../../../device/model/frame-text.ts';
import type { FrameView } from '../../../device/model/types.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { frameTerm } from '../../../device/search/qualifier.ts';
import { useAsk } from '../../shared/use-query.ts';
import { groupLabel, groupPlace } from './flame-labels.ts';
import type { BoxIndex, FlameLayout } from './flame-layout.ts';
import type { FlameBoxesQuery, FlameQuery } from './use-flame.ts';

/** A path in the graph, which stays valid for a new answer, or a row with the query that it answers. */
type Chosen =
  | { readonly kind: 'box'; readonly path: string }
  | { readonly kind: 'row'; readonly row: FlameRow; readonly query: FlameQuery };

export interface FlameSelection {
  readonly label: string;
  /** Short, and the whole path to copy; both '' if the label says everything. */
  readonly place: string;
  readonly fullPlace: string;
  /** Search that finds its allocations; undefined if none does. */
  readonly search: string | undefined;
  readonly value: number;
  readonly count: number;
  readonly magnitude: number;
  /** Memory that no frame inside it holds; undefined if not known. */
  readonly self: number | undefined;
  /** Frames of the stack so far, innermost first; undefined if there are several stacks. */
  readonly frames: readonly FrameView[] | undefined;
  /** The row's stack, whose frames are fetched separately; -1 for none. */
  readonly stack: number;
}

/** The selected box: the one clicked, or the one of a stack chosen in the table. */
export function selectedBox(
  chosen: Chosen | undefined,
  layout: FlameLayout,
  isInverted: boolean,
): BoxIndex | undefined {
  if (chosen === undefined) return undefined;
  if (chosen.kind === 'box') return layout.boxOfPath(chosen.path);
  // Paths of rows begin at the outermost caller; so do those of boxes, unless the graph is inverted.
  const keys = chosen.row.stack < 0 ? [] : chosen.row.key.split('.');
  if (isInverted) keys.reverse();
  return keys.length === 0 ? undefined : layout.boxOfPath(keys.join('.'));
}

/** Undefined if the box is gone, or too small to see. */
export function selectionOf(
  chosen: Chosen,
  layout: FlameLayout,
  { groupBy, inverted }: Pick<FlameBoxesQuery, 'groupBy' | 'inverted'>,
): FlameSelection | undefined {
  if (chosen.kind === 'row') return rowSelection(chosen.row);
  const box = layout.boxOfPath(chosen.path);
  const ancestry = box === undefined ? [] : layout.ancestry(box);
  const group = ancestry.at(-1);
  if (box === undefined || group === undefined) return undefined;
  const { value, magnitude, count, selfMagnitude } = layout.graph.boxes;
  const hasLines = groupBy === 'line' || groupBy === 'stack' || groupBy === 'class';
  const frames = hasLines ? framesOf(ancestry) : undefined;
  return {
    ...namesOf(group),
    value: value[box] ?? 0,
    count: count[box] ?? 0,
    magnitude: magnitude[box] ?? 0,
    self: inverted ? undefined : (selfMagnitude[box] ?? 0),
    frames: inverted ? frames : frames?.reverse(),
    stack: -1,
  };
}

/** Boxes of functions, files and modules cover many lines: only boxes of lines make a stack. */
const framesOf = (groups: readonly FlameGroup[]): FrameView[] =>
  groups.flatMap((group) => (group.kind === 'frame' ? [group.frame] : []));

function rowSelection({ group, userFrame, self, total, count, stack }: FlameRow): FlameSelection {
  const figures = { value: total, count, magnitude: Math.abs(total), frames: undefined, stack };
  if (userFrame === undefined) return { ...namesOf(group), ...figures, self };
  // Find a call stack by the user's line and the innermost call.
  const inner = namesOf(group);
  const own = frameTerm(userFrame);
  return {
    label: `${functionText(userFrame)} → ${inner.label}`,
    place: framePath(userFrame) ?? '',
    fullPlace: fullPlace(userFrame),
    search: inner.search === undefined ? own : addTerm(own, inner.search),
    ...figures,
    self: undefined,
  };
}

function namesOf(
  group: FlameGroup,
): Pick<FlameSelection, 'label' | 'place' | 'fullPlace' | 'search'> {
  const [label, place] = [groupLabel(group), groupPlace(group)];
  if (group.kind === 'absent') return { label, place, fullPlace: '', search: undefined };
  if (group.kind === 'class') return { label, place, fullPlace: '', search: group.search };
  const { filename } = group.frame;
  // A function has many lines.
  const isLine = place.endsWith(`:${group.frame.line}`);
  const full = place === '' ? '' : isLine ? fullPlace(group.frame) : filename;
  return { label, place, fullPlace: full, search: group.search };
}

/**
 * The user's choice, with its figures for the current query: a row chosen at the peak has other figures at the end, or
 * none. Undefined until they are known.
 */
export function useChosen(query: FlameQuery) {
  const ask = useAsk();
  const [chosen, choose] = useState<Chosen | undefined>(undefined);
  const isStale = chosen?.kind === 'row' && chosen.query !== query;
  const key = chosen?.kind === 'row' ? chosen.row.key : undefined;
  useEffect(() => {
    if (!isStale || key === undefined) return;
    const controller = new AbortController();
    ask('flameRow', { ...query, key }, { signal: controller.signal }).then(
      (row) => choose(row && { kind: 'row', row, query }),
      // Canceled, or the worker is gone, which the view reports.
      () => undefined,
    );
    return () => controller.abort();
  }, [ask, query, key, isStale]);
  return [isStale ? undefined : chosen, choose] as const;
}
