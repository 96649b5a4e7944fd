import { useEffect, useRef, useState } from 'react';
import { NEVER } from '../../../allocator/replay/types.ts';
import { errorText } from '../../../base/errors.ts';
import { startTimer } from '../../../base/task.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { MatchStep } from '../../../device/search/match-search.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { Range } from '../../../state/view-store.ts';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';

/** Longer than between two keystrokes, shorter than a pause. */
const DEBOUNCE_MS = 150;

export type SearchText = ReturnType<typeof useSearchText>;

/**
 * The text of the box and the search of all views. The search follows the typing after a short delay. One burst of
 * typing gets one history entry, at its start.
 */
export function useSearchText() {
  const { view } = useStores();
  const search = useView((state) => state.search);
  /** The text in the box: ahead of the views' search while typing. */
  const [draft, setDraft] = useState(search);
  const stopTimer = useRef(() => {});
  const hasBegun = useRef(false);

  // A filter clicked elsewhere, or Back, changed the search.
  useEffect(() => {
    stopTimer.current();
    setDraft(search);
  }, [search]);
  useEffect(() => () => stopTimer.current(), []);

  function apply(text: string): void {
    stopTimer.current();
    setDraft(text);
    if (text === view.getState().view.search) return;
    if (hasBegun.current) view.adjust({ search: text });
    else view.commit({ search: text });
    hasBegun.current = true;
  }
  function type(text: string): void {
    setDraft(text);
    stopTimer.current();
    stopTimer.current = startTimer(DEBOUNCE_MS, () => apply(text));
  }
  /** Makes the next change a new search, with its own history entry. */
  function begin(): void {
    hasBegun.current = false;
  }
  return { draft, type, apply, begin };
}

/**
 * Next and previous match: selects the allocation, and moves the window if it is out of view. `last` is the match of
 * the last step; `failure` says why a step found none.
 */
export function useSearchSteps() {
  const { device } = useDevice();
  const ask = useAsk();
  const { view } = useStores();
  const [last, setLast] = useState<MatchStep>();
  const [failure, setFailure] = useState<string>();
  const selected = useRef(-1);
  selected.current = useSelectedIndex();
  /** The last step's match: a second step may come before the page has rendered the first. */
  const before = useRef<MatchStep>(undefined);
  async function takeStep(isBackwards: boolean): Promise<void> {
    const { search, cursor: at, axis, x, selection } = view.getState().view;
    // The worker finds a new selection only after a moment; until then, use the last step.
    const from = before.current?.label === selection ? before.current?.allocation : undefined;
    const start = from ?? selected.current;
    const windowFrom = x === 'all' ? 0 : x.from;
    const request = { search, at, axis, windowFrom, isBackwards, selected: start };
    try {
      const found = await ask('stepMatch', request);
      setFailure(undefined);
      if (found === undefined) return;
      before.current = found;
      setLast(found);
      const now = view.getState().view;
      view.commit({ selection: found.label, x: windowShowing(now.x, now.axis, found, device) });
    } catch (error) {
      setFailure(errorText(error));
    }
  }
  const queue = useRef(Promise.resolve());
  // Two quick presses are two steps: the second waits for the first.
  const step = (isBackwards: boolean) => {
    queue.current = queue.current.then(() => takeStep(isBackwards));
  };
  return { step, last, failure };
}

/** A window that shows an allocation: the present one if it does, else one of the same width around its start. */
export function windowShowing(
  x: Range | 'all',
  axis: TimeAxis,
  life: Pick<MatchStep, 'startEvent' | 'endEvent' | 'startUs' | 'endUs'>,
  { events, durationUs }: Pick<DeviceInfo, 'events' | 'durationUs'>,
): Range | 'all' {
  if (x === 'all') return x;
  const extent = axis === 'event' ? events : durationUs;
  // Allocated before the trace: from 0. Never freed: to the end.
  const start = axis === 'event' ? Math.max(0, life.startEvent) : life.startUs || 0;
  const isOpen = life.endEvent === NEVER;
  const end = isOpen ? extent : axis === 'event' ? life.endEvent : life.endUs;
  if (start < x.to && end > x.from) return x;
  const width = x.to - x.from;
  const from = Math.max(0, Math.min(start - width / 2, extent - width));
  return { from, to: from + width };
}
