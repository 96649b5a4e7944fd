import './app.css';
import { Suspense, useCallback, useEffect, useState } from 'react';
import type { OpenSource } from '../../engine/protocol.ts';
import { openInfo, type SessionState } from '../../state/session-store.ts';
import { useSession } from '../../state/stores.ts';
import { AppHeader } from '../header/app-header.tsx';
import { EmptyState } from '../open/empty-state.tsx';
import { ErrorCard } from '../open/error-card.tsx';
import { FilePickerRoot } from '../open/file-picker.tsx';
import { LoadingCard } from '../open/loading-card.tsx';
import '../open/open.css';
import { useThemeAttribute } from '../theme/use-theme.ts';
import { Announcer } from './announcer.tsx';
import { fetchViews, HelpDialog, Workbench } from './lazy-views.ts';
import { Notices } from './notices.tsx';
import { useServices } from './services.ts';
import { useIncomingFiles } from './use-incoming-files.ts';
import { useShortcut } from './use-shortcut.ts';

/** The whole page: what to open, or what is open, and how the opening goes. */
export function App() {
  useThemeAttribute();
  const { opener } = useServices();
  const state = useSession((session) => session);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const openFile = useCallback((source: OpenSource) => void opener.open(source), [opener]);
  const isDragging = useIncomingFiles(openFile);
  const toggleHelp = useCallback(() => setIsHelpOpen((isOpen) => !isOpen), []);
  useShortcut('?', toggleHelp);
  const isFileInSight = isDragging || state.phase !== 'idle';
  useEffect(() => {
    if (isFileInSight) fetchViews();
  }, [isFileInSight]);
  const info = openInfo(state);
  const status = <OpeningStatus state={state} />;
  return (
    <FilePickerRoot>
      <div className="app">
        <AppHeader info={info} onHelp={toggleHelp} />
        <Notices />
        {info !== undefined && (
          <Suspense fallback={<main className="workbench" />}>
            <Workbench info={info} />
          </Suspense>
        )}
        {info !== undefined && <div className="status-layer">{status}</div>}
        {info === undefined && state.phase === 'loading' && (
          <main className="loading-page">{status}</main>
        )}
        {info === undefined && state.phase !== 'loading' && <EmptyState>{status}</EmptyState>}
        {isDragging && (
          <div className="drop-veil" aria-hidden>
            <p>Drop to open</p>
          </div>
        )}
      </div>
      <Suspense>
        {isHelpOpen && <HelpDialog isOpen={isHelpOpen} onOpenChange={setIsHelpOpen} />}
      </Suspense>
      <Announcer state={state} />
    </FilePickerRoot>
  );
}

function OpeningStatus({ state }: { readonly state: SessionState }) {
  switch (state.phase) {
    case 'loading':
      return <LoadingCard key={state.name} name={state.name} progress={state.progress} />;
    case 'failed':
      return (
        <ErrorCard
          name={state.name}
          failure={state.failure}
          stillOpen={state.previous?.file.name}
        />
      );
    case 'idle':
    case 'ready':
      return undefined;
  }
}
