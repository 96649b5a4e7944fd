import type { DeviceContext } from '../../core/device/device-context.ts';
import type { CooperativeClock } from '../cooperative-clock.ts';
import { serve } from '../rpc.ts';
import { cloneDevice } from './clone-device.ts';
import type { CopyMethods } from './protocol.ts';

/** Gives copies of the session's devices to an analysis worker, until that one ends. */
export function serveDeviceCopies(
  port: MessagePort,
  contextOf: (deviceIndex: number) => DeviceContext,
  clock: CooperativeClock,
): void {
  serve<CopyMethods>(port, {
    copy: ({ deviceIndex }) => cloneDevice(contextOf(deviceIndex), clock),
  });
}
