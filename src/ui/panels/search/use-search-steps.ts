import { useCallback, useEffect, useRef, useState } from 'react';
import { errorText } from '../../../base/errors.ts';
import type { MatchStep } from '../../../device/search/step-match.ts';
import { useStores } from '../../../state/stores.ts';
import { useDevice } from '../../shared/device-context.ts';
import { useSelectedIndex } from '../../shared/selection.ts';
import { useAsk } from '../../shared/use-query.ts';
import { windowShowing } from './window-showing.ts';

export interface SearchSteps {
  readonly step: (isBackwards: boolean) => void;
  /** The match that the last step led to. */
  readonly last: MatchStep | undefined;
  /** Why the last step led nowhere. */
  readonly failure: string | undefined;
}

/** Next and previous match: selects the allocation, and moves the window where it is not in view. */
export function useSearchSteps(): SearchSteps {
  const { device } = useDevice();
  const selected = useSelectedIndex();
  const ask = useAsk();
  const { view } = useStores();
  const [last, setLast] = useState<MatchStep>();
  const [failure, setFailure] = useState<string>();
  /** Where the next step starts: a step that is asked for before the page has drawn the one before starts from that one. */
  const from = useRef<{ readonly selected: number; readonly last: MatchStep | undefined }>({
    selected,
    last: undefined,
  });
  useEffect(() => {
    from.current = { ...from.current, selected };
  }, [selected]);
  const queue = useRef(Promise.resolve());
  const takeStep = useCallback(
    async (isBackwards: boolean) => {
      const { search, cursor, axis, x, selection } = view.getState().view;
      // The worker finds the selection a moment after it was made; the last step knows better.
      const { last: before, selected: pinned } = from.current;
      const start = before !== undefined && before.label === selection ? before.allocation : pinned;
      const windowFrom = x === 'all' ? 0 : x.from;
      const request = {
        search,
        at: cursor,
        axis,
        windowFrom,
        isBackwards,
      };
      try {
        const found = await ask('stepMatch', { ...request, selected: start });
        setFailure(undefined);
        if (found === undefined) return;
        from.current = { ...from.current, last: found };
        setLast(found);
        const now = view.getState().view;
        view.commit({
          selection: found.label,
          x: windowShowing(now.x, now.axis, found, device),
        });
      } catch (error) {
        setFailure(errorText(error));
      }
    },
    [ask, view, device],
  );
  // Two quick presses are two steps: the second waits for the first.
  const step = useCallback(
    (isBackwards: boolean) => {
      queue.current = queue.current.then(() => takeStep(isBackwards));
    },
    [takeStep],
  );
  return { step, last, failure };
}
