/** The flame graph's requests, made from the view; their answers; and what the user chose in the graph or the table. */
import { useEffect, useMemo, useState } from 'react';
import type { FlameRow } from '../../../device/flame-graph/flame-table.ts';
import type { FlameGroup } from '../../../device/flame-graph/types.ts';
import { framePath, fullPlace, functionText } from '../../../device/model/frame-text.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { frameTerm } from '../../../device/search/qualifier.ts';
import { useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { FlameDataRequest, FlameRequest } from '../../../worker/protocol.ts';
import { useAsk, useQuery, type WithoutDevice } from '../../shared/use-query.ts';
import { groupName, groupPlace } from './flame-labels.ts';
import type { FlameBox, FlameLayout } from './flame-layout.ts';

/** What the table, the exports and the boxes have in common. */
export type FlameQuery = WithoutDevice<FlameDataRequest>;

export type FlameBoxesQuery = WithoutDevice<FlameRequest>;

/**
 * What is added up. Leaves fields undefined that don't change the answer, so equal queries compare equal: a peak does
 * not move with the cursor.
 */
export function flameQuery(view: ViewState): FlameQuery {
  const { dataset, weight, groupBy, frames, transforms } = view.flame;
  const isAtCursor = dataset === 'cursor' || dataset === 'difference';
  // `state:` and `age` in a search refer to the cursor.
  const needsCursor = isAtCursor || view.search !== '';
  const window = view.x === 'all' ? undefined : { axis: view.axis, ...view.x };
  return {
    dataset,
    weight,
    groupBy,
    frames,
    transforms,
    cursor: needsCursor ? view.cursor : undefined,
    secondCursor: dataset === 'difference' ? view.secondCursor : undefined,
    window: dataset === 'window' ? window : undefined,
    search: view.search,
    onlyMatches: view.onlyMatches,
  };
}

/** Leaves out boxes narrower than about a pixel. @param widthPx of the graph */
export function flameBoxesQuery(view: ViewState, widthPx: number): FlameBoxesQuery {
  // In steps, so resizing a panel does not send a request for each width.
  const steppedWidth = 2 ** Math.ceil(Math.log2(Math.max(256, widthPx)));
  const { root, groupBy } = view.flame;
  // Names have no callees.
  const inverted = view.flame.inverted && groupBy !== 'holder';
  return { ...flameQuery(view), inverted, root, smallestShare: 1 / steppedWidth };
}

/** The boxes for the view; none before the first answer. Sends nothing until the width is known (0). */
export function useFlame(widthPx: number) {
  // Compared as text: the view changes with each step of a pan, which rarely changes the query.
  const text = useView((view) => JSON.stringify(flameBoxesQuery(view, widthPx)));
  const wanted: FlameBoxesQuery = JSON.parse(text);
  const asked = useQuery('flame', widthPx > 0 ? wanted : undefined, { cancelsStale: true });
  const { value: answer, request, isCurrent, failure } = asked;
  // What the table asks stays the same object while only zooming or inverting, which change the boxes, not the rows.
  const { inverted: _, root: __, smallestShare: ___, ...own } = request ?? {};
  const queryText = JSON.stringify(own);
  const query = useMemo((): FlameQuery => JSON.parse(queryText), [queryText]);
  const isReady = failure === undefined && answer !== undefined && request !== undefined;
  const ready = isReady ? { answer, request, query, isBusy: !isCurrent } : undefined;
  return { ready, failure };
}

/** An answer, and what was asked. */
export type FlameReady = NonNullable<ReturnType<typeof useFlame>['ready']>;

/** A path in the graph, which stays valid for a new answer, or a row with the query that it answers. */
type Chosen =
  | { readonly kind: 'box'; readonly path: string }
  | { readonly kind: 'row'; readonly row: FlameRow; readonly query: FlameQuery };

export type FlameSelection = NonNullable<ReturnType<typeof selectionOf>>;

/** The selected box: the one clicked, or the one of a stack chosen in the table. */
export function selectedBox(
  chosen: Chosen | undefined,
  layout: FlameLayout,
  isInverted: boolean,
): FlameBox | undefined {
  if (chosen === undefined) return undefined;
  if (chosen.kind === 'box') return layout.boxOfPath(chosen.path);
  // Paths of rows begin at the outermost caller; so do those of boxes, unless the graph is inverted.
  const keys = chosen.row.stack < 0 ? [] : chosen.row.key.split('.');
  if (isInverted) keys.reverse();
  return keys.length === 0 ? undefined : layout.boxOfPath(keys.join('.'));
}

/** What is known of the user's choice. Undefined if its box is gone, or too small to see. */
export function selectionOf(
  chosen: Chosen,
  layout: FlameLayout,
  { inverted }: Pick<FlameBoxesQuery, 'inverted'>,
) {
  if (chosen.kind === 'row') return rowSelection(chosen.row);
  const box = layout.boxOfPath(chosen.path);
  const ancestry = box === undefined ? [] : layout.ancestry(box);
  const group = ancestry.at(-1);
  if (box === undefined || group === undefined) return undefined;
  const { value, magnitude, count, selfMagnitude } = box.data;
  // Boxes of functions, files and modules cover many lines: only boxes of lines make a stack.
  const hasLines = ancestry.every((one) => one.kind !== 'frame' || one.level === 'line');
  const frames = ancestry.flatMap((one) => (one.kind === 'frame' ? [one.frame] : []));
  if (!inverted) frames.reverse();
  return {
    ...namesOf(group),
    value,
    count,
    magnitude,
    /** Memory that no frame inside it holds; undefined if not known. */
    self: inverted ? undefined : selfMagnitude,
    /** Frames of the stack so far, innermost first; undefined if there are several stacks. */
    frames: hasLines ? frames : undefined,
    group,
    path: chosen.path,
    /** The row's stack, whose frames are fetched separately; -1 for none. */
    stack: -1,
  };
}

export function rowSelection({ group, userFrame, self, total, count, stack }: FlameRow) {
  const magnitude = Math.abs(total);
  const figures = {
    value: total,
    count,
    magnitude,
    frames: undefined,
    stack,
    group,
    path: undefined,
  };
  const inner = namesOf(group);
  if (userFrame === undefined) return { ...inner, ...figures, self };
  // Find a call stack by the user's line and the innermost call.
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

/** `place` is short, `fullPlace` is to copy; '' if the label says it. `search` finds its allocations, if any does. */
function namesOf(group: FlameGroup) {
  const [label, place] = [groupName(group), groupPlace(group)];
  const { search } = group;
  if (group.kind !== 'frame' || place === '') return { label, place, fullPlace: '', search };
  // A function has many lines.
  const isLine = place.endsWith(`:${group.frame.line}`);
  return {
    label,
    place,
    fullPlace: isLine ? fullPlace(group.frame) : group.frame.filename,
    search,
  };
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
      // Cancelled, or the worker is gone, which the view reports.
      () => undefined,
    );
    return () => controller.abort();
  }, [ask, query, key, isStale]);
  return [isStale ? undefined : chosen, choose] as const;
}
