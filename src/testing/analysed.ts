import { type Analysis, analyse } from '../analysis/findings/analyse.ts';
import type { DeviceModel } from '../device/model/device-model.ts';

const analysed = new WeakMap<DeviceModel, Promise<Analysis>>();

/** What is said of a device, analysed once for all who ask. So it is nobody's to change. */
export function analysisOf(context: DeviceModel): Promise<Analysis> {
  const known = analysed.get(context) ?? analyse(context);
  analysed.set(context, known);
  return known;
}
