import { CircleHelp, FolderOpen, type LucideIcon, Monitor, Moon, Sun, X } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { sumBy } from '../../../base/collections.ts';
import { formatCount, plural } from '../../../base/format.ts';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import { type SessionState, type Theme, usePreferences, useStores } from '../../../state/stores.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { useLazy } from '../../shared/lazy.ts';
import { useServices } from '../../shared/services.ts';
import { FilePicker } from '../open/file-picker.tsx';

interface AppHeaderProps {
  readonly info: SessionInfo | undefined;
  readonly onHelp: () => void;
  /** The open file, see OpenFile. */
  readonly children: ReactNode;
}

export function AppHeader({ info, onHelp, children }: AppHeaderProps) {
  const { report } = useServices();
  useEffect(() => {
    document.title = info === undefined ? 'vramscope' : `${info.file.name} · vramscope`;
  }, [info]);
  // The page's heading once a snapshot is open. The empty page has its own.
  const Heading = info === undefined ? 'span' : 'h1';
  return (
    <header className="spread app-header">
      <Heading className="inline-row brand">
        <Logo />
        vramscope
      </Heading>
      {children}
      {/* A report shows one snapshot and can't open others. */}
      {info !== undefined && report === undefined && (
        <FilePicker icon={FolderOpen}>Open…</FilePicker>
      )}
      <ThemeSwitch />
      <IconButton icon={CircleHelp} label="Help" title="Help (?)" onClick={onHelp} />
    </header>
  );
}

const THEMES: Readonly<Record<Theme, readonly [icon: LucideIcon, next: Theme]>> = {
  system: [Monitor, 'light'],
  light: [Sun, 'dark'],
  dark: [Moon, 'system'],
};

function ThemeSwitch() {
  const { preferences } = useStores();
  const theme = usePreferences((now) => now.theme);
  const [icon, next] = THEMES[theme];
  return (
    <IconButton
      icon={icon}
      label={`Theme: ${theme}`}
      onClick={() => preferences.set({ theme: next })}
    />
  );
}

/** The favicon's bars, in the page's colors. */
function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path className="logo-low" d="M1 19v-5h3v5zM6 19V9h3v10zM11 19v-8h3v8zM16 19v-6h3v6z" />
      <path className="logo-high" d="M6 9V4h3v5zM11 11V1h3v10z" />
    </svg>
  );
}

export function Notices() {
  const { notices } = useServices();
  const sentences = useStore(notices);
  if (sentences.length === 0) return undefined;
  return (
    <aside className="spread notices" aria-label="About the link">
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <IconButton icon={X} label="Dismiss" onClick={() => notices.setState([], true)} />
    </aside>
  );
}

const loadUpdateBar = () => import('./update-bar.tsx');

/**
 * The service worker keeps the page for offline use. It fetches and stores the whole page again, on the cores that a
 * first file needs, so it starts only after this much idle time.
 */
const QUIET_MS = 3000;

export function UpdateBar() {
  const { idle } = useServices();
  const [isQuiet, setIsQuiet] = useState(false);
  useEffect(() => {
    if (!import.meta.env.VITE_SINGLE) void idle.whenIdle(QUIET_MS).then(() => setIsQuiet(true));
  }, [idle]);
  // Without a network, nothing could be updated.
  const code = useLazy(loadUpdateBar, isQuiet, () => undefined);
  return code && <code.UpdateOffer />;
}

/** Announces the stages of opening a file to screen readers, but not the progress in between. */
export function Announcer({ state }: { readonly state: SessionState }) {
  return (
    <div className="visually-hidden" role="status" aria-live="polite">
      {announcement(state)}
    </div>
  );
}

function announcement(state: SessionState): string {
  if (state.phase === 'idle') return '';
  if (state.phase === 'loading') return `Opening ${state.name}`;
  if (state.phase === 'failed') {
    return `${state.name} could not be opened. ${state.failure.message}`;
  }
  const { file, devices } = state.info;
  const events = sumBy(devices, (device) => device.events);
  return `${file.name} is open: ${formatCount(events)} events on ${plural(devices.length, 'device')}`;
}
