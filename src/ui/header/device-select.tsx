import { formatBytes, formatCount } from '../../core/base/format.ts';
import { isUnusedDevice } from '../../core/device/main-device.ts';
import type { DeviceInfo } from '../../core/device/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { onDevice } from '../../state/view-store.ts';

/**
 * A native list: it works by keyboard, by touch and for screen readers as it is. Devices that the process
 * did not use come last, and cannot be chosen.
 */
export function DeviceSelect({ devices }: { readonly devices: readonly DeviceInfo[] }) {
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
