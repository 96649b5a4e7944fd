/** What the run would have reserved under the one setting that findings quote and the verdict recommends. */

import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { CITED_SETTING } from '../../allocator/simulator/presets.ts';
import { type RecordedRun, recordedRun } from '../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../allocator/simulator/types.ts';
import { simulate, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { whyNotSimulated } from '../../device/model/vendors.ts';
import type { DeviceTables } from './types.ts';

/** Simulating this many events takes about a fifth of a second; with more, only an explicit request runs it. */
export const MOST_EVENTS = 1_000_000;

type Simulated = Pick<DeviceTables, 'trace' | 'replay' | 'snapshot'>;

export const isSimulated = (trace: Parameters<typeof whyNotSimulated>[0]): boolean =>
  trace.kind === 'cuda' && whyNotSimulated(trace) === undefined;

interface SimulatedSetting {
  readonly result: WhatIfResult;
  readonly recorded: RecordedRun;
  /** How much less would have been reserved at the peak. */
  readonly savesBytes: number;
}

/** Undefined for devices that can't be simulated, and for recordings of more than `MOST_EVENTS`. */
export function simulatedSetting(device: Simulated): SimulatedSetting | undefined {
  if (!isSimulated(device.trace) || device.trace.events.length > MOST_EVENTS) return undefined;
  const known = runs.get(device.replay) ?? simulatedRun(device);
  runs.set(device.replay, known);
  return known;
}

/** The findings and the verdict quote the same run. */
const runs = new WeakMap<Simulated['replay'], SimulatedSetting>();

function simulatedRun({ trace, replay, snapshot }: Simulated): SimulatedSetting {
  const conf = parseAllocConf(CITED_SETTING);
  if (!conf.ok) throw new Error(conf.message);
  const input = whatIfInput(trace, replay, snapshot.settings);
  const recorded = recordedRun(input, 1);
  const limits = { limitBytes: recorded.limit?.likelyBytes, parts: 1 };
  const result = simulate(input, conf, limits);
  const savesBytes = Math.max(0, recorded.peakReservedBytes - result.peakReservedBytes);
  return { recorded, result, savesBytes };
}
