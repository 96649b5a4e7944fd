import './workbench.css';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { Group, Panel, Separator } from 'react-resizable-panels';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import { createFindingsStore } from '../../../state/findings-store.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { createAnalysisClient } from '../../../worker/analysis/client.ts';
import { CursorBar } from '../../panels/cursor/cursor-bar.tsx';
import { ExportButton } from '../../panels/export/export-button.tsx';
import { PICTURE_ID } from '../../panels/export/picture.ts';
import { SearchBox } from '../../panels/search/search-box.tsx';
import { type Lazy, useLazy } from '../../shared/lazy.ts';
import { SelectionContext, useFoundSelection } from '../../shared/selection.tsx';
import {
  type AnalysisServices,
  AnalysisServicesContext,
  CurrentDeviceContext,
  useServices,
} from '../../shared/services.ts';
import type { ComparePageProps } from '../compare/compare-page.tsx';
import type { SecondSession } from '../compare/second-session.ts';
import { SidePanel } from './side-panel.tsx';
import { SummaryStrip } from './summary-strip.tsx';
import { useViewKeys, ViewSlot, ViewTabs } from './views.tsx';

export { startUrlSync } from '../../../state/url-sync.ts';
export { ReportBar } from '../../panels/report/report-bar.tsx';
export { PartialView } from '../../views/timeline/partial-view.tsx';
export { GivenDialog } from '../open/given-dialog.tsx';
export { OpenFile } from './open-file.tsx';

interface WorkbenchProps {
  readonly info: SessionInfo;
  readonly second: SecondSession | undefined;
  readonly onSecond: (second: SecondSession | undefined) => void;
}

export function Workbench({ info, second, onSecond }: WorkbenchProps) {
  const isComparing = useView((view) => view.comparison !== undefined) || second !== undefined;
  if (!isComparing) return <OneFile info={info} />;
  return <LazyCompare info={info} second={second} onClose={() => onSecond(undefined)} />;
}

/** Fetched when a second file is given, or a link asks for a comparison. */
const COMPARE: Lazy<ComparePageProps> = {
  load: async () => (await import('../compare/compare-page.tsx')).ComparePage,
};

function LazyCompare(props: ComparePageProps) {
  useShown(props.info);
  const Page = useLazy(COMPARE, true, () => undefined);
  return Page === undefined ? <main className="view fill" aria-busy /> : <Page {...props} />;
}

/**
 * Tells the loader that a snapshot is shown, which completes the load. Effects run after those of children: the
 * timeline has started its own work by then, so the page never looks idle in between.
 */
function useShown(info: SessionInfo): void {
  const { loader } = useServices();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each snapshot is shown once
  useEffect(() => loader.shown(), [loader, info]);
}

function OneFile({ info }: { readonly info: SessionInfo }) {
  useShown(info);
  const index = useView((view) => view.deviceIndex);
  const device = info.devices[index];
  const shown = useMemo(() => device && { info, device }, [info, device]);
  const analysis = useAnalysisServices();
  if (shown === undefined) return <NoDevices />;
  return (
    <AnalysisServicesContext value={analysis}>
      <CurrentDeviceContext value={shown}>
        {/* The key gives another device new views. */}
        <DeviceWorkbench key={shown.device.index} />
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

function DeviceWorkbench() {
  const name = useView((view) => view.view);
  const picture = useRef<HTMLDivElement>(null);
  useViewKeys(picture);
  return (
    <SelectionContext value={useFoundSelection()}>
      <main className="workbench">
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
    </SelectionContext>
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
    <main className="workbench">
      <div className="blank">
        <h2>This snapshot is empty</h2>
        <p>
          It has no events and no segments for any device. PyTorch writes such a file when nothing
          was allocated on the GPU, or when the snapshot was taken before CUDA was first used.
        </p>
      </div>
    </main>
  );
}
