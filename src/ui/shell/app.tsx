import './app.css';
import { useCallback, useEffect, useState } from 'react';
import { type GivenFiles, routeGivenFiles } from '../../state/given-files.ts';
import { growthOf, openInfo } from '../../state/session-store.ts';
import { useSession } from '../../state/stores.ts';
import { AppHeader } from '../header/app-header.tsx';
import { EmptyState } from '../open/empty-state.tsx';
import { FilePickerRoot } from '../open/file-picker.tsx';
import { OpeningStatus } from '../open/opening-status.tsx';
import '../open/open.css';
import { ReportBar } from '../report/report-bar.tsx';
import { useServices } from '../shared/services.ts';
import { useShortcut } from '../shared/use-shortcut.ts';
import { useThemeAttribute } from '../theme/use-theme.ts';
import { LazyHelp, loadedWorkbench, preloadWorkbench } from './lazy-chunks.tsx';
import { Announcer, Notices, UpdateBar } from './notices.tsx';
import { useIncomingFiles } from './use-incoming-files.ts';

/** The whole page: what to open, or what is open, and how the opening goes. */
export function App() {
  useThemeAttribute();
  const { loader, report } = useServices();
  const state = useSession((session) => session);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const takeFiles = useCallback(
    (given: GivenFiles) => routeGivenFiles(given, { open: (source) => void loader.open(source) }),
    [loader],
  );
  const isDragging = useIncomingFiles(takeFiles);
  const toggleHelp = useCallback(() => setIsHelpOpen((isOpen) => !isOpen), []);
  const closeHelp = useCallback(() => setIsHelpOpen(false), []);
  useShortcut('?', toggleHelp);
  useEffect(() => {
    if (isDragging) preloadWorkbench();
  }, [isDragging]);
  const { Workbench, OpenFile, GrowingView } = loadedWorkbench() ?? {};
  const info = openInfo(state);
  const growth = GrowingView && growthOf(state);
  const isGrowing = growth !== undefined;
  const status = <OpeningStatus state={state} />;
  return (
    <FilePickerRoot onPick={preloadWorkbench} onFiles={takeFiles}>
      <div className="app">
        <AppHeader info={info} isReport={report !== undefined} onHelp={toggleHelp}>
          {info !== undefined && OpenFile !== undefined ? <OpenFile info={info} /> : undefined}
        </AppHeader>
        {report !== undefined && <ReportBar {...report} />}
        <Notices />
        <UpdateBar />
        {info !== undefined && Workbench !== undefined && (
          <div className="page-part" hidden={isGrowing}>
            <Workbench info={info} />
          </div>
        )}
        {GrowingView !== undefined && growth !== undefined && (
          <GrowingView growth={growth} isCut={state.phase === 'failed'}>
            {status}
          </GrowingView>
        )}
        {!isGrowing && info !== undefined && <div className="status-layer">{status}</div>}
        {!isGrowing && info === undefined && state.phase === 'loading' && (
          <main className="loading-page">{status}</main>
        )}
        {!isGrowing && info === undefined && state.phase !== 'loading' && (
          <EmptyState>{status}</EmptyState>
        )}
        {isDragging && (
          <div className="drop-veil" aria-hidden>
            <p>Drop to open</p>
          </div>
        )}
      </div>
      <LazyHelp isOpen={isHelpOpen} onClose={closeHelp} />
      <Announcer state={state} />
    </FilePickerRoot>
  );
}
