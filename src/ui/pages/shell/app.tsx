import './app.css';
import '../open/open.css';
import { useEffect, useState } from 'react';
import { fileSource, type GivenFiles, routeGivenFiles } from '../../../state/given-files.ts';
import { openInfo, partialOf } from '../../../state/session-store.ts';
import { useSession, useStores } from '../../../state/stores.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { useShortcut } from '../../shared/browser.ts';
import { Button } from '../../shared/buttons.tsx';
import { useServices } from '../../shared/services.ts';
import { useThemeAttribute } from '../../theme/use-theme.ts';
import { EmptyState } from '../open/empty-state.tsx';
import { FilePickerRoot } from '../open/file-picker.tsx';
import type { GivenChoice } from '../open/given-dialog.tsx';
import { OpeningStatus } from '../open/opening-status.tsx';
import type { GivenRanks } from '../ranks/use-job.ts';
import { AppHeader } from './app-header.tsx';
import { LazyHelp, LazyRanks, loadedWorkbench } from './lazy-chunks.tsx';
import { Announcer, Notices, UpdateBar } from './notices.tsx';
import { useIncomingFiles, useSecondFile } from './use-given-files.ts';

/** The whole page: the empty page, an opening, or what is open. */
export function App({ ranksUrl }: { readonly ranksUrl?: string | undefined }) {
  useThemeAttribute();
  const { report, loader } = useServices();
  const { session } = useStores();
  const state = useSession((session) => session);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const [ranks, setRanks] = useState<GivenRanks | undefined>(
    ranksUrl === undefined ? undefined : { listUrl: ranksUrl },
  );
  const [isRanks, setIsRanks] = useState(ranks !== undefined);
  const { second, routes, setSecond } = useSecondFile();
  /** Files for which the user must choose what to do. */
  const [asked, setAsked] = useState<GivenFiles>();
  function openRanks(given: GivenRanks): void {
    setRanks(given);
    setIsRanks(true);
  }
  function closeRanks(): void {
    setRanks(undefined);
    setIsRanks(false);
  }
  function takeFiles(given: GivenFiles): void {
    if (given.files.length > 0) setIsRanks(false);
    const isOpen = openInfo(session.getState()) !== undefined;
    const ask = isOpen && !isRanks && !routes.isAwaited() ? setAsked : undefined;
    routeGivenFiles(given, { ...routes, ranks: openRanks, ask });
  }
  function takeAsked(given: GivenFiles, choice: GivenChoice): void {
    setAsked(undefined);
    const [a, b] = given.files.map(fileSource);
    const open = loader.opened();
    if (choice.kind === 'replace') routes.open(fileSource(choice.file));
    else if (choice.kind === 'ranks') {
      openRanks(b === undefined && a && open ? { sources: [open, a] } : given);
    } else if (a !== undefined && b !== undefined) routes.compare(a, b);
    else if (a !== undefined) routes.compareWith(a);
  }
  function showRanks(isShown: boolean): void {
    // Opening a rank's snapshot ends the comparison.
    if (!isShown) setSecond(undefined);
    setIsRanks(isShown);
  }
  function compareRanks(a: OpenSource, b: OpenSource): void {
    setIsRanks(false);
    routes.compare(a, b);
  }
  const isDragging = useIncomingFiles(takeFiles);
  const [isPicking, setIsPicking] = useState(false);
  const isExpecting = isDragging || isPicking || asked !== undefined;
  useEffect(() => (isExpecting ? loader.expectFile() : undefined), [isExpecting, loader]);
  const toggleHelp = () => setIsHelpOpen(!isHelpOpen);
  useShortcut('?', toggleHelp);
  const { Workbench, OpenFile, PartialView, GivenDialog, ReportBar } = loadedWorkbench() ?? {};
  // While a pair opens, the previously open file is neither of the two.
  const isPairComing = second !== undefined && state.phase !== 'ready';
  const info = isPairComing ? undefined : openInfo(state);
  const partial = PartialView && partialOf(state);
  const isPartial = partial !== undefined && !isRanks;
  const isOfSnapshot = !isPartial && !isRanks;
  const leave = state.phase === 'loading' ? loader.cancel : session.dismissFailure;
  const status = <OpeningStatus state={state} onLeave={leave} onPartial={loader.openPartially} />;
  return (
    <FilePickerRoot onPicking={setIsPicking} onFiles={takeFiles}>
      <div className="app">
        <AppHeader
          info={isRanks ? undefined : info}
          isReport={report !== undefined}
          onHelp={toggleHelp}
          back={
            ranks !== undefined &&
            !isRanks && <Button onClick={() => setIsRanks(true)}>‹ Ranks</Button>
          }
        >
          {info !== undefined && OpenFile !== undefined && !isRanks && <OpenFile info={info} />}
        </AppHeader>
        {report !== undefined && ReportBar !== undefined && <ReportBar {...report} />}
        <Notices />
        <UpdateBar />
        {info !== undefined && Workbench !== undefined && (
          <div className="page-part" hidden={!isOfSnapshot}>
            <Workbench info={info} second={second} onSecond={setSecond} />
          </div>
        )}
        {PartialView !== undefined && partial !== undefined && isPartial && (
          <PartialView partial={partial} isCut={state.phase === 'failed'}>
            {status}
          </PartialView>
        )}
        {isOfSnapshot && info !== undefined && <div className="status-layer">{status}</div>}
        {isOfSnapshot && info === undefined && state.phase === 'loading' && (
          <main className="loading-page">{status}</main>
        )}
        {isOfSnapshot && info === undefined && state.phase !== 'loading' && (
          <EmptyState>{status}</EmptyState>
        )}
        <LazyRanks
          given={ranks}
          isHidden={!isRanks}
          onShow={showRanks}
          onCompare={compareRanks}
          onClose={closeRanks}
        />
        {asked !== undefined && info !== undefined && GivenDialog !== undefined && (
          <GivenDialog
            given={asked}
            openName={info.file.name}
            onChoose={(choice) => takeAsked(asked, choice)}
            onCancel={() => setAsked(undefined)}
          />
        )}
        {isDragging && (
          <div className="drop-veil" aria-hidden>
            <p>Drop to open</p>
          </div>
        )}
      </div>
      <LazyHelp isOpen={isHelpOpen} onClose={() => setIsHelpOpen(false)} />
      <Announcer state={state} />
    </FilePickerRoot>
  );
}
