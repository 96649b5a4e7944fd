import './header.css';
import { CircleHelp, FolderOpen } from 'lucide-react';
import { Suspense, useEffect } from 'react';
import type { SessionInfo } from '../../core/query/types.ts';
import { FileFacts } from '../app/lazy-views.ts';
import { FilePicker } from '../open/file-picker.tsx';
import { DeviceSelect } from './device-select.tsx';
import { Logo } from './logo.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

interface AppHeaderProps {
  readonly info: SessionInfo | undefined;
  readonly onHelp: () => void;
}

export function AppHeader({ info, onHelp }: AppHeaderProps) {
  useEffect(() => {
    document.title = info === undefined ? 'vramscope' : `${info.file.name} · vramscope`;
  }, [info]);
  return (
    <header className="app-header">
      <span className="brand">
        <Logo />
        vramscope
      </span>
      {info !== undefined && (
        <Suspense>
          <FileFacts info={info} />
        </Suspense>
      )}
      <span className="spacer" />
      {info !== undefined && info.devices.length > 0 && <DeviceSelect devices={info.devices} />}
      {info !== undefined && (
        <FilePicker className="button">
          <FolderOpen size={14} aria-hidden />
          Open…
        </FilePicker>
      )}
      <ThemeSwitch />
      <button
        type="button"
        className="icon-button"
        aria-label="Help"
        title="Help (?)"
        onClick={onHelp}
      >
        <CircleHelp size={16} aria-hidden />
      </button>
    </header>
  );
}
