import './header.css';
import { CircleHelp, FolderOpen, type LucideIcon, Monitor, Moon, Sun } from 'lucide-react';
import { useEffect } from 'react';
import { formatBytes, formatCount } from '../../core/base/format.ts';
import { isUnusedDevice } from '../../core/device/main-device.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type { Theme } from '../../state/preferences.ts';
import { usePreferences, useStores, useView } from '../../state/stores.ts';
import { onDevice } from '../../state/view-store.ts';
import { FilePicker } from '../open/file-picker.tsx';
import { FileFacts } from './file-facts.tsx';

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

/**
 * A native list: it works by keyboard, by touch and for screen readers as it is. Devices that the process
 * did not use come last, and cannot be chosen.
 */
function DeviceSelect({ devices }: { readonly devices: readonly DeviceInfo[] }) {
  const { view } = useStores();
  const current = useView((state) => state.deviceIndex);
  return (
    <select
      className="select device-select"
      data-testid="device-select"
      aria-label="Device"
      value={current}
      onChange={({ currentTarget }) => view.commit(onDevice(Number(currentTarget.value)))}
    >
      {inOrder(devices).map((device) => (
        <option
          key={device.index}
          value={device.index}
          disabled={isUnusedDevice(device) && device.index !== current}
        >
          {deviceText(device)}
        </option>
      ))}
    </select>
  );
}

const inOrder = (devices: readonly DeviceInfo[]): readonly DeviceInfo[] => [
  ...devices.filter((device) => !isUnusedDevice(device)),
  ...devices.filter(isUnusedDevice),
];

/** 'cuda:0 · 11,633 events · peak 2.05 GiB' */
function deviceText(info: DeviceInfo): string {
  const { kind, device, events, peaks, end } = info;
  const name = kind === 'host' ? 'host (pinned)' : `cuda:${device}`;
  if (isUnusedDevice(info)) return `${name} · not used by this process`;
  const memory =
    events === 0
      ? `${formatBytes(end.allocatedBytes)} allocated`
      : `peak ${formatBytes(peaks.allocatedBytes.bytes)}`;
  return `${name} · ${formatCount(events)} events · ${memory}`;
}

interface Choice {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly next: Theme;
}

const CHOICES: Readonly<Record<Theme, Choice>> = {
  system: { icon: Monitor, label: 'Theme: as the system', next: 'light' },
  light: { icon: Sun, label: 'Theme: light', next: 'dark' },
  dark: { icon: Moon, label: 'Theme: dark', next: 'system' },
};

/** Goes round: as the system, light, dark. */
function ThemeSwitch() {
  const { preferences } = useStores();
  const { icon: Icon, label, next } = CHOICES[usePreferences(({ theme }) => theme)];
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() => preferences.set({ theme: next })}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}

/** The favicon's bars, in the page's colours. */
function Logo() {
  return (
    <svg className="logo" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path className="logo-low" d="M1 19v-5h3v5zM6 19V9h3v10zM11 19v-8h3v8zM16 19v-6h3v6z" />
      <path className="logo-high" d="M6 9V4h3v5zM11 11V1h3v10z" />
    </svg>
  );
}
