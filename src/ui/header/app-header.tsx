import './header.css';
import { CircleHelp, FolderOpen } from 'lucide-react';
import { useEffect } from 'react';
import type { SessionInfo } from '../../core/device/types.ts';
import { FilePicker } from '../open/file-picker.tsx';
import { DeviceSelect } from './device-select.tsx';
import { FileFacts } from './file-facts.tsx';
import { Logo } from './logo.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

interface AppHeaderProps {
  readonly info: SessionInfo | undefined;
  /** A report shows one snapshot: another one is opened elsewhere. */
  readonly isReport: boolean;
  readonly onHelp: () => void;
}

export function AppHeader({ info, isReport, onHelp }: AppHeaderProps) {
  useEffect(() => {
    document.title = info === undefined ? 'vramscope' : `${info.file.name} · vramscope`;
  }, [info]);
  return (
    <header className="app-header">
      <Brand isHeading={info !== undefined} />
      {info !== undefined && <FileFacts info={info} />}
      <span className="spacer" />
      {info !== undefined && info.devices.length > 0 && <DeviceSelect devices={info.devices} />}
      {info !== undefined && !isReport && (
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

/** The page's heading once a snapshot is open; before, the empty page has one of its own. */
function Brand({ isHeading }: { readonly isHeading: boolean }) {
  const Tag = isHeading ? 'h1' : 'span';
  return (
    <Tag className="brand">
      <Logo />
      vramscope
    </Tag>
  );
}
