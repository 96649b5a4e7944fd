import { type RefObject, useCallback } from 'react';
import type { RankedFinding } from '../../../analysis/findings/ranked-findings.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { openingCursor } from '../../../state/view-fitting.ts';
import { isTextField, useKeyDown } from '../../shared/browser.ts';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import { leftFinding, selectedFinding } from './show-finding.ts';

interface FindingSelection {
  /** RankedFinding.id, from the URL. */
  readonly selected: string | undefined;
  readonly toggle: (finding: RankedFinding) => void;
  readonly choose: (finding: RankedFinding) => void;
  readonly leave: () => void;
}

/** The selected finding, kept in the URL, and how selecting it changes the views. */
export function useFindingSelection(findings: readonly RankedFinding[]): FindingSelection {
  const { device } = useDevice();
  const { view } = useStores();
  const ask = useAsk();
  const selected = useView((state) => state.finding);

  /** Evidence without a line is shown by the stack of its largest allocation. */
  const labelOf = useCallback(
    async ({ frame, searchFrame, evidence }: RankedFinding): Promise<string | undefined> => {
      const [largest] = evidence.allocations;
      if (frame !== undefined || searchFrame !== undefined || largest === undefined)
        return undefined;
      // Without the session there is nothing to search, and the views report that.
      const details = await ask('allocation', { index: largest }).catch(() => undefined);
      return details?.label;
    },
    [ask],
  );

  const leave = useCallback(async () => {
    const { finding: id } = view.getState().view;
    const finding = findings.find((one) => one.id === id);
    const label = finding && (await labelOf(finding));
    view.commit(leftFinding(finding, view.getState().view, label, openingCursor(device)));
  }, [view, device, findings, labelOf]);

  async function choose(finding: RankedFinding): Promise<void> {
    const label = await labelOf(finding);
    view.click('finding', selectedFinding(finding, view.getState().view, label));
  }

  return {
    selected,
    toggle: (finding) => void (finding.id === selected ? leave() : choose(finding)),
    choose: (finding) => void choose(finding),
    leave: useCallback(() => void leave(), [leave]),
  };
}

/**
 * Esc undoes the last click, in any view. If there was none, it runs `action`, but only in the panel or without
 * a focus: elsewhere Esc has its own meaning.
 */
export function useEscape(
  panel: RefObject<HTMLElement | null>,
  action: (() => void) | undefined,
): void {
  const { view } = useStores();
  useKeyDown((event) => {
    const { key, target, defaultPrevented } = event;
    if (key !== 'Escape' || defaultPrevented || isTextField(target)) return;
    // Popovers and dialogs close first.
    if (document.querySelector('dialog[open], :popover-open') !== null) return;
    const isInPanel = target instanceof Node && panel.current?.contains(target) === true;
    const isUndone = view.undoClick();
    if (isUndone || (action !== undefined && (isInPanel || target === document.body))) {
      event.preventDefault();
      if (!isUndone) action?.();
    }
  });
}
