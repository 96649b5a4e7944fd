import { CircleHelp, FolderOpen, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import type { Theme } from '../../../state/preferences.ts';
import { usePreferences, useStores } from '../../../state/stores.ts';
import { IconButton } from '../../shared/buttons.tsx';
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
    <header className="app-header">
      <Heading className="brand">
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
