import './app.css';
import '../open/open.css';
import { memo, useDeferredValue, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { isRecord } from '../../../base/collections.ts';
import { isSamePlace } from '../../../state/disk-files.ts';
import {
  filesOfTransfer,
  type GivenFiles,
  routeGivenFiles,
  sourceOf,
} from '../../../state/given-files.ts';
import { beginSecondSession, nameOf, type SecondSession } from '../../../state/snapshot-loader.ts';
import {
  openInfo,
  partialOf,
  type SessionState,
  useSession,
  useStores,
} from '../../../state/stores.ts';
import { NO_URL } from '../../../state/url-sync.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { useShortcuts } from '../../shared/browser.ts';
import { Button } from '../../shared/buttons.tsx';
import { fetchCode, useLazy } from '../../shared/lazy.ts';
import { useServices } from '../../shared/services.ts';
import { useThemeAttribute } from '../../theme/use-theme.ts';
import { EmptyState } from '../open/empty-state.tsx';
import { FilePickerRoot } from '../open/file-picker.tsx';
import { OpeningStatus } from '../open/opening-status.tsx';
import type { GivenRanks } from '../ranks/use-job.ts';
import { Announcer, AppHeader, Notices, UpdateBar } from './app-header.tsx';
import type { GivenChoice } from './open-file.tsx';

/**
 * What the page needs only once there is something to show: D3, the panels, the timeline. Fetched while the worker
 * reads the file, so the empty page stays light. An opening waits for both.
 */
const importWorkbench = () => import('./workbench.tsx');
export const loadWorkbench = () => fetchCode(importWorkbench);
const loadHelp = () => import('./help-dialog.tsx');
const loadRanks = () => import('../ranks/ranks-page.tsx');

interface AppProps {
  readonly ranksUrl?: string | undefined;
}

/**
 * What the session becomes is rendered in slices: all panels at once are a task of 60 ms and more, in which the page
 * answers nothing.
 */
export function App({ ranksUrl }: AppProps) {
  const state = useDeferredValue(useSession((session) => session));
  return <Page ranksUrl={ranksUrl} state={state} />;
}

/** The whole page: the empty page, an opening, or what is open. */
const Page = memo(function Page({ ranksUrl, state }: AppProps & { readonly state: SessionState }) {
  useThemeAttribute();
  const { report, loader } = useServices();
  const { session } = useStores();
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const [ranks, setRanks] = useState<GivenRanks | undefined>(
    ranksUrl === undefined ? undefined : { listUrl: ranksUrl },
  );
  const [isRanks, setIsRanks] = useState(ranks !== undefined);
  useRanksEntry(isRanks, (isShown) => setIsRanks(isShown && ranks !== undefined));
  const { second, routes, setSecond } = useSecondFile();
  /** Files for which the user must choose what to do. */
  const [asked, setAsked] = useState<GivenFiles>();
  function openRanks(given: GivenRanks | undefined): void {
    setRanks(given);
    setIsRanks(given !== undefined);
  }
  function takeFiles(given: GivenFiles): void {
    if (given.files.length > 0) setIsRanks(false);
    const isOpen = openInfo(session.getState()) !== undefined;
    const ask = isOpen && !isRanks && !routes.isAwaited() ? setAsked : undefined;
    routeGivenFiles(given, { ...routes, ranks: openRanks, ask });
  }
  function takeAsked(given: GivenFiles, choice: GivenChoice): void {
    setAsked(undefined);
    const [a, b] = given.files.map((file) => sourceOf(given, file));
    const open = loader.opened();
    if (choice instanceof File) routes.open(sourceOf(given, choice));
    else if (choice === 'ranks') {
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
  const showPair = (a: OpenSource, b: OpenSource) => openRanks({ sources: [a, b] });
  const isDragging = useIncomingFiles(takeFiles);
  const [isPicking, setIsPicking] = useState(false);
  const isExpecting = isDragging || isPicking || asked !== undefined;
  useEffect(() => (isExpecting ? loader.expectFile() : undefined), [isExpecting, loader]);
  const toggleHelp = () => setIsHelpOpen(!isHelpOpen);
  const closeHelp = () => setIsHelpOpen(false);
  const closeRanks = () => openRanks(undefined);
  useShortcuts({ '?': toggleHelp }, { inDialogs: true });
  const help = useLazy(loadHelp, isHelpOpen, closeHelp);
  const ranksPage = useLazy(loadRanks, ranks !== undefined, closeRanks);
  // A failure is the loader's to report.
  const workbench = useLazy(importWorkbench, state.phase !== 'idle', () => undefined);
  // While a pair opens, the previously open file is neither of the two.
  const isPairComing = second !== undefined && state.phase !== 'ready';
  const info = isPairComing ? undefined : openInfo(state);
  const partial = workbench && partialOf(state);
  const replaced = state.phase === 'ready' && ranks === undefined ? loader.replaced() : undefined;
  const isPartial = partial !== undefined && !isRanks;
  const isOfSnapshot = !isPartial && !isRanks;
  const leave = state.phase === 'loading' ? loader.cancel : session.dismissFailure;
  const status = <OpeningStatus state={state} onLeave={leave} onPartial={loader.openPartially} />;
  const statusPage =
    state.phase === 'loading' ? (
      <main className="loading-page">{status}</main>
    ) : (
      <EmptyState>{status}</EmptyState>
    );
  return (
    <FilePickerRoot onPicking={setIsPicking} onFiles={takeFiles}>
      <div className="app">
        <AppHeader info={isRanks ? undefined : info} onHelp={toggleHelp}>
          {ranks !== undefined && !isRanks && (
            <Button onClick={() => setIsRanks(true)}>‹ Ranks</Button>
          )}
          {replaced !== undefined && workbench !== undefined && (
            <workbench.BackButton name={nameOf(replaced)} onClick={() => void loader.goBack()} />
          )}
          {info !== undefined && workbench !== undefined && !isRanks ? (
            <workbench.OpenFile info={info} />
          ) : (
            <span className="spacer" />
          )}
        </AppHeader>
        {report && workbench && <workbench.ReportBar {...report} />}
        <Notices />
        <UpdateBar />
        {workbench !== undefined && state.phase === 'ready' && isOfSnapshot && (
          <workbench.ChangedBar info={state.info} onCompare={routes.compareWith} />
        )}
        {info !== undefined && workbench !== undefined && (
          <div className="page-part" hidden={!isOfSnapshot}>
            <workbench.Workbench
              info={info}
              second={second}
              onAlone={() => setSecond(undefined)}
              onRanks={ranks === undefined ? showPair : undefined}
            />
          </div>
        )}
        {workbench !== undefined && partial !== undefined && isPartial && (
          <workbench.PartialView partial={partial} isCut={state.phase === 'failed'}>
            {status}
          </workbench.PartialView>
        )}
        {isOfSnapshot &&
          (info === undefined ? statusPage : <div className="status-layer">{status}</div>)}
        {ranks !== undefined && ranksPage !== undefined && (
          <ranksPage.RanksPage
            given={ranks}
            isHidden={!isRanks}
            onShow={showRanks}
            onCompare={compareRanks}
            onClose={closeRanks}
          />
        )}
        {asked !== undefined && info !== undefined && workbench !== undefined && (
          <workbench.GivenDialog
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
      {help !== undefined && <help.HelpDialog isOpen={isHelpOpen} onClose={closeHelp} />}
      <Announcer state={state} />
    </FilePickerRoot>
  );
});

/** Whether the history entry is that of the ranks page. It keeps the file of the entry before: Back may need it. */
const isOfRanks = (state: unknown): boolean => isRecord(state) && state.ranks === true;

/** The ranks page is an entry of the history: Back leads to the page before, Forward to the ranks again. */
function useRanksEntry(isRanks: boolean, onShow: (isShown: boolean) => void): void {
  const show = useEffectEvent(onShow);
  useEffect(() => {
    const restore = ({ state }: PopStateEvent) => show(isOfRanks(state));
    window.addEventListener('popstate', restore);
    return () => window.removeEventListener('popstate', restore);
  }, []);
  useEffect(() => {
    const { history } = window;
    if (!isRanks || isOfRanks(history.state) || window.location.href === NO_URL) return;
    history.pushState({ ...history.state, ranks: true }, '');
  }, [isRanks]);
}

/** Files dropped or pasted anywhere on the page. Returns whether files are being dragged over it. */
function useIncomingFiles(onFiles: (given: GivenFiles) => void): boolean {
  // dragenter and dragleave fire for every element passed: the drag has left when the count is 0.
  const [depth, setDepth] = useState(0);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const hasFiles = (transfer: DataTransfer | null) => transfer?.types.includes('Files') ?? false;
    const listen = <K extends 'dragenter' | 'dragleave' | 'dragover' | 'drop' | 'paste'>(
      type: K,
      listener: (event: WindowEventMap[K]) => void,
    ) => window.addEventListener(type, listener, { signal });
    listen('dragenter', ({ dataTransfer }) => {
      if (hasFiles(dataTransfer)) setDepth((before) => before + 1);
    });
    listen('dragleave', () => setDepth((before) => Math.max(0, before - 1)));
    listen('dragover', (event) => {
      const { dataTransfer } = event;
      if (dataTransfer === null || !hasFiles(dataTransfer)) return;
      event.preventDefault();
      dataTransfer.dropEffect = 'copy';
    });
    listen('drop', (event) => {
      setDepth(0);
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      take(filesOfTransfer(event.dataTransfer));
    });
    listen('paste', ({ clipboardData }) => take(filesOfTransfer(clipboardData)));
    return () => stop.abort();
  }, []);
  return depth > 0;
}

/** A file and the open one that it is compared with. */
interface Pair {
  readonly base: OpenSource;
  readonly source: OpenSource;
}

/** Decides whether given files are opened or compared with the open one. */
function useSecondFile() {
  const { loader, idle } = useServices();
  const { session, view } = useStores();
  const [second, setSecond] = useState<Pair & { readonly opened: SecondSession }>();
  /** Every pair that was compared, for Back and Forward. */
  const [pairs] = useState(() => new Set<Pair>());
  useEffect(() => () => second?.opened.session.close(), [second]);
  function begin(pair: Pair): void {
    pairs.add(pair);
    setSecond({ ...pair, opened: beginSecondSession(pair.source, idle) });
  }
  const info = useSession((state) => (state.phase === 'ready' ? state.info : undefined));
  const restores = useStore(view, (state) => state.restores);
  const infoBefore = useRef(info);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another file, Back and Forward change the pair
  useEffect(() => {
    const base = loader.opened();
    if (info === undefined || base === undefined) return;
    const isSameFile = infoBefore.current === info;
    infoBefore.current = info;
    const { comparison } = view.getState().view;
    const isPair = second !== undefined && isSamePlace(second.base, base);
    if (isPair && comparison !== undefined) return;
    // The pair was given just now, so the view does not know of it yet.
    if (isPair && !isSameFile) return view.adjust({ comparison: '' });
    // The link names the second file, unless it was left at once.
    const name = new URLSearchParams(comparison).get('b')?.replace(/^\d+:/, '');
    const pair = [...pairs].findLast(
      (one) =>
        comparison !== undefined &&
        isSamePlace(one.base, base) &&
        (name === undefined || nameOf(one.source) === name),
    );
    if (pair !== undefined) begin(pair);
    else setSecond(undefined);
  }, [info, restores]);
  function compareWith(source: OpenSource): void {
    const base = loader.opened();
    if (base === undefined) return;
    if (view.getState().view.comparison === undefined) view.commit({ comparison: '' });
    begin({ base, source });
  }
  /** The next file is the second of a comparison. */
  const isAwaited = () =>
    view.getState().view.comparison !== undefined &&
    (second === undefined || second.opened.state.getState().phase === 'failed') &&
    openInfo(session.getState()) !== undefined;
  const routes = {
    isAwaited,
    compareWith,
    open(source: OpenSource): void {
      if (isAwaited()) compareWith(source);
      else void loader.open(source);
    },
    compare(a: OpenSource, b: OpenSource): void {
      // Both files are read at once, each in its own worker.
      begin({ base: a, source: b });
      void loader.open(a);
    },
  };
  return { second: second?.opened, routes, setSecond };
}
