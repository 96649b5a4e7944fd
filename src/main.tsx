import './ui/theme/base.css';
import './ui/theme/controls.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createStore } from 'zustand/vanilla';
import { errorText } from './base/errors.ts';
import type { Report } from './output/report/report-page.ts';
import { createIdleCounter, createTimings, type StageTimes } from './state/page-timings.ts';
import { createSnapshotLoader, type SnapshotLoader } from './state/snapshot-loader.ts';
import { createStores, openInfo, StoresContext } from './state/stores.ts';
import type { UrlSync } from './state/url-sync.ts';
import { App, loadWorkbench } from './ui/pages/shell/app.tsx';
import { limitConnections } from './ui/pages/shell/connection-policy.ts';
import { keepShell, reportSource, takeReport } from './ui/panels/report/report-page.ts';
import { ServicesContext } from './ui/shared/services.ts';
import { createSessionClient } from './worker/client.ts';

declare global {
  interface Window {
    /** For scripts and tests: when the page has settled, and when each stage of opening was reached. */
    vramscope?: {
      readonly version: string;
      whenIdle(): Promise<void>;
      marks(): StageTimes;
    };
  }
}

/** After this much idle time, preload the workbench. Any sooner would delay a file that is given at once. */
const PRELOAD_QUIET_MS = 1500;

function start(root: HTMLElement): void {
  const parsed = takeReport(document);
  const params = new URLSearchParams(window.location.search);
  const snapshotUrl = params.get('snapshot') || undefined;
  const ranksUrl = params.get('ranks') ?? undefined;
  /** The origin of the page that frames this one and may talk to it: see state/embedding.ts. */
  const embedder = window.parent === window ? null : params.get('embedder');
  const report = parsed?.kind === 'report' ? parsed.report : undefined;
  keepShell(document);
  // Do this before creating the worker, which loads at once and inherits the page's policy. The dev server's socket
  // has another origin.
  if (import.meta.env.PROD) limitConnections(document, snapshotUrl);
  const idle = createIdleCounter();
  const timings = createTimings();
  const stores = createStores();
  const notices = createStore<readonly string[]>(() => []);
  const session = createSessionClient({ idle, timings });
  const onNotices = (sentences: readonly string[]) => notices.setState(sentences, true);
  let urlSync: UrlSync | undefined;
  async function prepare() {
    const { startUrlSync } = await loadWorkbench();
    urlSync ??= startUrlSync({
      store: stores.view,
      window,
      openInfo: () => openInfo(stores.session.getState()),
      onNotices,
      beginLag: idle.begin,
      loader,
    });
    return urlSync.take;
  }
  const loader: SnapshotLoader = createSnapshotLoader({
    client: session,
    idle,
    session: stores.session,
    view: stores.view,
    versionOf: async (source) => (await loadWorkbench()).versionOf(source),
    prepare,
  });
  window.vramscope = {
    version: String(import.meta.env.VITE_VERSION),
    whenIdle: idle.whenIdle,
    marks: timings.times,
  };
  window.addEventListener('storage', stores.preferences.refresh);
  createRoot(root).render(
    <StrictMode>
      <StoresContext value={stores}>
        <ServicesContext value={{ session, loader, timings, idle, notices, report }}>
          <App ranksUrl={ranksUrl} />
        </ServicesContext>
      </StoresContext>
    </StrictMode>,
  );
  void idle
    .whenIdle(PRELOAD_QUIET_MS)
    .then(loadWorkbench)
    .catch(() => undefined);
  if (embedder !== null) {
    const { version } = window.vramscope;
    void import('./state/embedding.ts').then(({ startEmbedding }) => {
      const problem = startEmbedding({ embedder, version, window, loader, session, stores });
      if (problem !== undefined) onNotices([problem]);
    });
  }
  // Only from the local server: another host's list could name any file on this machine.
  const sourceList = /^[\w-]+\.json$/.exec(params.get('source') ?? '');
  if (sourceList !== null) {
    const reading = import('./state/source-folder.ts').then((code) =>
      code.servedSource(sourceList[0]),
    );
    reading.then(
      (folder) => stores.source.setState({ folder }),
      (error: unknown) => onNotices([`The source folder cannot be shown: ${errorText(error)}.`]),
    );
  }
  if (parsed?.kind === 'problem') onNotices([parsed.problem]);
  if (report !== undefined) openReport(report, loader);
  else if (snapshotUrl !== undefined) void loader.open({ kind: 'url', url: snapshotUrl });
}

/** Opens the view that the report was saved from, unless the address names another: links may lead into a report. */
function openReport({ title, hash, base64 }: Report, loader: SnapshotLoader): void {
  if (window.location.hash === '' && hash !== '') window.history.replaceState(null, '', `#${hash}`);
  void loader.open(reportSource(title, base64));
}

const root = document.getElementById('root');
if (root !== null) start(root);
