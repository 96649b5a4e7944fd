import { formatBytes, formatCount } from '../../core/base/format.ts';
import type { DeviceInfo } from '../../core/device/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { onDevice } from '../../state/view-store.ts';

/** A native list: it works by keyboard, by touch and for screen readers as it is. */
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
      {devices.map((device) => (
        <option key={device.index} value={device.index}>
          {deviceText(device)}
        </option>
      ))}
    </select>
  );
}

/** 'cuda:0 · 11,633 events · peak 2.05 GiB' */
function deviceText({ kind, device, events, peaks, end }: DeviceInfo): string {
  const name = kind === 'host' ? 'host (pinned)' : `cuda:${device}`;
  const memory =
    events === 0
      ? `${formatBytes(end.allocatedBytes)} allocated`
      : `peak ${formatBytes(peaks.allocatedBytes.bytes)}`;
  return `${name} · ${formatCount(events)} events · ${memory}`;
}
