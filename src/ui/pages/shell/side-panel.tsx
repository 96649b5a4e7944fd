import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';
import type { FindingsState } from '../../../state/findings-store.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { DetailsPanel } from '../../panels/details/details-panel.tsx';
import { FindingsPanel } from '../../panels/findings/findings-panel.tsx';
import { useJudgementInViews } from '../../panels/findings/use-account.ts';
import { useFindingHighlights } from '../../panels/findings/use-finding-highlights.ts';
import { useEscape, useFindingSelection } from '../../panels/findings/use-finding-selection.ts';
import { useFindings, useFindingsRun } from '../../shared/services.ts';

const TABS = ['findings', 'details'] as const;
type Tab = (typeof TABS)[number];

const tabId = (name: Tab): string => `side-tab-${name}`;

/** The panel beside every view: findings, and details of the selection. */
export function SidePanel() {
  // Runs here because the plot shows findings whichever tab is open.
  useFindingsRun();
  const { findings, judgement } = useFindings();
  const lead = judgement?.verdict.finding;
  useJudgementInViews(judgement);
  useFindingHighlights(
    findings,
    lead === undefined ? undefined : findings.find(({ fingerprint }) => fingerprint === lead),
  );
  const panel = useRef<HTMLDivElement>(null);
  const { selected, leave } = useFindingSelection(findings);
  useEscape(panel, selected === undefined ? undefined : leave);
  const [tab, setTab] = useTab();
  return (
    <div ref={panel} className="view">
      <div
        className="bar side-tabs"
        role="tablist"
        aria-label="Side panel"
        onKeyDown={(event) => goByArrow(event, tab, setTab)}
      >
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={tabId(name)}
            className="tab quiet"
            aria-selected={name === tab}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {name === 'findings' ? 'Findings' : 'Details'}
            {name === 'findings' && <FindingCount findings={findings} />}
          </button>
        ))}
      </div>
      <div className="side-content" role="tabpanel" aria-labelledby={tabId(tab)}>
        {tab === 'findings' && <FindingsPanel />}
        {tab === 'details' && <DetailsPanel />}
      </div>
    </div>
  );
}

/** The number of findings listed; red if any is more than low. */
function FindingCount({ findings }: { readonly findings: FindingsState['findings'] }) {
  if (findings.length === 0) return undefined;
  const isHarmless = findings.every(({ severity }) => severity === 'low');
  return (
    <span className="side-count" data-tone={isHarmless ? undefined : 'danger'}>
      {findings.length}
    </span>
  );
}

/** The tab list is one Tab stop; arrow keys move within it and wrap around. */
function goByArrow(event: KeyboardEvent, tab: Tab, setTab: (tab: Tab) => void): void {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step === undefined) return;
  const next = TABS.at((TABS.indexOf(tab) + step) % TABS.length);
  if (next === undefined) return;
  // Otherwise the view would act on the arrow too.
  event.stopPropagation();
  event.preventDefault();
  setTab(next);
  document.getElementById(tabId(next))?.focus();
}

/** The tab of the most recent selection; without a selection, the findings. */
function useTab(): readonly [Tab, (tab: Tab) => void] {
  const label = useView((view) => view.selection);
  const finding = useView((view) => view.finding);
  const restores = useStore(useStores().view, (state) => state.restores);
  const [tab, setTab] = useState<Tab>('findings');
  // biome-ignore lint/correctness/useExhaustiveDependencies: Back and another file bring the findings back too
  useEffect(() => {
    if (label === undefined) setTab('findings');
  }, [label, restores]);
  useEffect(() => {
    if (label !== undefined) setTab('details');
  }, [label]);
  useEffect(() => {
    if (finding !== undefined) setTab('findings');
  }, [finding]);
  return [tab, setTab];
}
