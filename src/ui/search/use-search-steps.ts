import { useCallback, useState } from 'react';
import { errorText } from '../../core/base/errors.ts';
import type { MatchStep } from '../../core/search/step-match.ts';
import { useStores } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import { useSelectedIndex } from '../shared/selection.ts';
import { useAsk } from '../shared/use-query.ts';
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
  const step = useCallback(
    async (isBackwards: boolean) => {
      const { search, cursor, axis, x, selection } = view.getState().view;
      // The worker finds the selection a moment after it was made; the last step knows better.
      const from = last !== undefined && last.label === selection ? last.allocation : selected;
      const windowFrom = x === 'all' ? 0 : x.from;
      const request = {
        search,
        at: cursor,
        axis,
        windowFrom,
        isBackwards,
      };
      try {
        const found = await ask('stepMatch', { ...request, selected: from });
        setFailure(undefined);
        if (found === undefined) return;
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
    [ask, view, device, selected, last],
  );
  return { step: (isBackwards) => void step(isBackwards), last, failure };
}
