import './workbench.css';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import { useStore } from 'zustand';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import type { FrameView } from '../../../device/model/types.ts';
import { createFindingsStore, type FindingsState } from '../../../state/findings-store.ts';
import type { SecondSession } from '../../../state/snapshot-loader.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { createAnalysisClient } from '../../../worker/analysis/client.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { CursorBar } from '../../panels/cursor/cursor-bar.tsx';
import { DetailsPanel } from '../../panels/details/details-panel.tsx';
import { ExportButton } from '../../panels/export/export-button.tsx';
import { PICTURE_ID } from '../../panels/export/picture.ts';
import { useJudgementInViews } from '../../panels/findings/account-parts.ts';
import { FindingsPanel } from '../../panels/findings/findings-panel.tsx';
import {
  useEscape,
  useFindingHighlights,
  useFindingSelection,
} from '../../panels/findings/show-finding.ts';
import { SearchBox } from '../../panels/search/search-box.tsx';
import { Button } from '../../shared/buttons.tsx';
import { Blank } from '../../shared/facts.tsx';
import { ShowSourceContext } from '../../shared/frame-links.tsx';
import { useLazy } from '../../shared/lazy.ts';
import { SelectionContext, useFoundSelection } from '../../shared/selection.tsx';
import {
  type AnalysisServices,
  AnalysisServicesContext,
  CurrentDeviceContext,
  FindingsContext,
  useFindings,
  useFindingsInView,
  useFindingsRun,
  useServices,
} from '../../shared/services.ts';
import { FocusedTooltip } from '../../shared/term.tsx';
import { SummaryStrip } from './summary-strip.tsx';
import { useRememberedFile } from './use-remembered-file.ts';
import { useViewKeys, ViewSlot, ViewTabs } from './views.tsx';

export { versionOf } from '../../../state/disk-watch.ts';
export { startUrlSync } from '../../../state/url-sync.ts';
export { ReportBar } from '../../panels/report/report-form.tsx';
export { PartialView } from '../../views/timeline/partial-view.tsx';
export { ChangedBar } from './changed-bar.tsx';
export { BackButton, GivenDialog, OpenFile } from './open-file.tsx';

interface WorkbenchProps {
  readonly info: SessionInfo;
  readonly second: SecondSession | undefined;
  readonly onAlone: () => void;
  /** The two compared files are ranks of one job; undefined if the page has a job already. */
  readonly onRanks: ((a: OpenSource, b: OpenSource) => void) | undefined;
}

/** Fetched when a second file is given, or a link asks for a comparison. */
const loadCompare = () => import('../compare/compare-page.tsx');

export function Workbench({ info, second, onAlone, onRanks }: WorkbenchProps) {
  const { loader } = useServices();
  // Completes the load. Effects run after those of children: the timeline has started its own work by then, so the page
  // never looks idle in between.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each snapshot is shown once
  useEffect(() => loader.shown(), [loader, info]);
  const isComparing = useView((view) => view.comparison !== undefined) || second !== undefined;
  const page = useLazy(loadCompare, isComparing, () => undefined);
  if (!isComparing) return <OneFile info={info} />;
  if (page === undefined) return <main className="view fill" aria-busy />;
  return <page.ComparePage info={info} second={second} onRanks={onRanks} onClose={onAlone} />;
}

function OneFile({ info }: Pick<WorkbenchProps, 'info'>) {
  const index = useView((view) => view.deviceIndex);
  const device = info.devices[index];
  const shown = useMemo(() => device && { info, device }, [info, device]);
  const analysis = useAnalysisServices();
  if (shown === undefined) return <NoDevices />;
  return (
    <AnalysisServicesContext value={analysis}>
      <CurrentDeviceContext value={shown}>
        <FocusedTooltip />
        {/* The key gives another device new views. */}
        <FindingsInView key={shown.device.index}>
          <DeviceWorkbench />
        </FindingsInView>
      </CurrentDeviceContext>
    </AnalysisServicesContext>
  );
}

/** Not with the other services, so the empty page need not load them. */
function useAnalysisServices(): AnalysisServices {
  const { session, idle, timings } = useServices();
  const { view } = useStores();
  const [services] = useState(() => {
    const analysis = createAnalysisClient({ session, idle });
    return { analysis, findings: createFindingsStore({ analysis, idle, timings }) };
  });
  useEffect(
    () =>
      view.subscribe(({ moves, commits }, before) => {
        // The page's own adjustments, such as settling colors, are no reason to wait.
        if (moves !== before.moves || commits !== before.commits)
          services.analysis.yieldToInteraction();
      }),
    [view, services],
  );
  return services;
}

function FindingsInView({ children }: { readonly children: ReactNode }) {
  return <FindingsContext value={useFindingsInView()}>{children}</FindingsContext>;
}

function DeviceWorkbench() {
  const name = useView((view) => view.view);
  const picture = useRef<HTMLDivElement>(null);
  useViewKeys(picture);
  return (
    <SelectionContext value={useFoundSelection()}>
      <ShowSource>
        <main className="view fill">
          <div className="bar view-row">
            <ViewTabs />
            <SummaryStrip />
            <ExportButton />
          </div>
          <div className="row bar tool-bar">
            <SearchBox />
            <CursorBar />
          </div>
          <ResizableSplit
            main={
              <div ref={picture} id={PICTURE_ID} className="view-picture">
                <ViewSlot name={name} />
              </div>
            }
            side={<SidePanel />}
          />
        </main>
      </ShowSource>
    </SelectionContext>
  );
}

const loadSource = () => import('../../panels/source/source-dialog.tsx');

/** Lets everything below show the file of a frame. */
function ShowSource({ children }: { readonly children: ReactNode }) {
  const [frame, setFrame] = useState<FrameView>();
  const close = useCallback(() => setFrame(undefined), []);
  const dialog = useLazy(loadSource, frame !== undefined, close);
  return (
    <ShowSourceContext value={setFrame}>
      {children}
      {frame && dialog && <dialog.SourceDialog frame={frame} onClose={close} />}
    </ShowSourceContext>
  );
}

const MAIN = 'main-panel';
const SIDE = 'side-panel';

function ResizableSplit({ main, side }: Readonly<Record<'main' | 'side', ReactNode>>) {
  const { preferences } = useStores();
  const [percent] = useState(() => preferences.getState().detailsPercent);
  return (
    <Group
      className="fill"
      defaultLayout={{ [MAIN]: 100 - percent, [SIDE]: percent }}
      onLayoutChanged={(layout, { isUserInteraction }) => {
        const size = layout[SIDE];
        if (isUserInteraction && size !== undefined) preferences.set({ detailsPercent: size });
      }}
    >
      <Panel id={MAIN} minSize="360px">
        {main}
      </Panel>
      <Separator className="split-handle" aria-label="Width of the side panel" />
      <Panel id={SIDE} minSize="300px" maxSize="70%">
        {side}
      </Panel>
    </Group>
  );
}

function NoDevices() {
  return (
    <main className="view fill">
      <Blank
        title="This snapshot is empty"
        text="It has no events and no segments for any device. PyTorch writes such a file when nothing was allocated on the GPU, or when the snapshot was taken before CUDA was first used."
      />
    </main>
  );
}

const TABS = { findings: 'Findings', details: 'Details' } as const;
type Tab = keyof typeof TABS;

const tabId = (name: Tab): string => `side-tab-${name}`;

/** The panel beside every view: findings, and details of the selection. */
function SidePanel() {
  // Runs here because the plot shows findings whichever tab is open.
  useFindingsRun();
  const { findings, judgement } = useFindings();
  const lead = judgement?.verdict.finding;
  useJudgementInViews();
  useRememberedFile(judgement?.verdict.brief);
  useFindingHighlights(
    findings,
    findings.find(({ fingerprint }) => fingerprint === lead),
  );
  const panel = useRef<HTMLDivElement>(null);
  const { selected, leave } = useFindingSelection(findings);
  useEscape(panel, selected === undefined ? undefined : leave);
  const [tab, setTab] = useTab();
  /** The tab list is one Tab stop; arrow keys move within it. */
  function goByArrow(event: KeyboardEvent): void {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const next = tab === 'findings' ? 'details' : 'findings';
    // Otherwise the view would act on the arrow too.
    event.stopPropagation();
    event.preventDefault();
    setTab(next);
    document.getElementById(tabId(next))?.focus();
  }
  return (
    <div ref={panel} className="view">
      <div className="bar view-row" role="tablist" aria-label="Side panel" onKeyDown={goByArrow}>
        {(['findings', 'details'] as const).map((name) => (
          <Button
            key={name}
            role="tab"
            id={tabId(name)}
            className="tab quiet"
            aria-selected={name === tab}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {TABS[name]}
            {name === 'findings' && <FindingCount findings={findings} />}
          </Button>
        ))}
      </div>
      <div className="fill side-content" role="tabpanel" aria-labelledby={tabId(tab)}>
        {tab === 'findings' ? <FindingsPanel /> : <DetailsPanel />}
      </div>
    </div>
  );
}

/** The number of findings listed; red if any is more than low. */
function FindingCount({ findings }: Pick<FindingsState, 'findings'>) {
  if (findings.length === 0) return undefined;
  const isHarmless = findings.every(({ severity }) => severity === 'low');
  return (
    <span className="chip" data-tone={isHarmless ? undefined : 'danger'}>
      {findings.length}
    </span>
  );
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
