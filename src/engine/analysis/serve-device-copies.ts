import type { DeviceContext } from '../../core/device/device-context.ts';
import type { CooperativeClock } from '../cooperative-reader.ts';
import { serve } from '../rpc.ts';
import { transferablesOf } from '../transfer.ts';
import { cloneDevice } from './clone-device.ts';
import type { CopyMethods } from './protocol.ts';

/** Gives copies of the session's devices to an analysis worker, until that one ends. */
export function serveDeviceCopies(
  port: MessagePort,
  contextOf: (deviceIndex: number) => DeviceContext,
  clock: CooperativeClock,
): void {
  serve<CopyMethods>(port, {
    async copy({ deviceIndex }, { transfer }) {
      const copy = await cloneDevice(contextOf(deviceIndex), clock);
      transfer.push(...transferablesOf(copy));
      return copy;
    },
  });
}
