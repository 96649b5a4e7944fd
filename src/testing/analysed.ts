import { type Analysis, analyse } from '../analysis/findings/analyse.ts';
import type { DeviceModel } from '../device/model/device-model.ts';

const analysed = new WeakMap<DeviceModel, Promise<Analysis>>();

/** The analysis of a device, made once and shared by all tests, so do not change it. */
export function analysisOf(context: DeviceModel): Promise<Analysis> {
  const known = analysed.get(context) ?? analyse(context);
  analysed.set(context, known);
  return known;
}
