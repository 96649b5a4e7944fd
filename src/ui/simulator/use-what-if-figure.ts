import { useEffect, useState } from 'react';
import { useStore } from 'zustand';
import { whatIfSentence } from '../../core/report/what-if-citation.ts';
import type { Confidence } from '../../core/simulator/types.ts';
import { useDevice } from '../shared/device-context.ts';
import { useServices } from '../shared/services.ts';
import { type Limit, resultOf, whatIfStoreOf, withTold } from './what-if-results.ts';

const LIMIT: Limit = 'recorded';

/** One setting with as much memory as the recorded run had, against it. */
export interface WhatIfFigure {
  readonly setting: string;
  readonly recordedBytes: number;
  readonly neededBytes: number;
  readonly confidence: Confidence;
  /** What follows the setting's name: 'would have needed 5.44 GiB instead of 15.86 GiB' */
  readonly sentence: string;
}

/**
 * What a setting would have needed, for a finding to cite. Undefined until it has been run, and where it
 * cannot be: without a trace, and when the worker fails (the what-if view says so).
 * @param setting undefined asks for nothing
 */
export function useWhatIfFigure(setting: string | undefined): WhatIfFigure | undefined {
  const { analysis } = useServices();
  const { device } = useDevice();
  const store = whatIfStoreOf(device);
  const known = useStore(store);
  const { recorded } = known;
  const [hasFailed, setHasFailed] = useState(false);
  const canRun = device.kind === 'cuda' && device.events > 0;
  const result = setting === undefined ? undefined : resultOf(known, LIMIT, setting);
  const isWanted = canRun && setting !== undefined && result === undefined && !hasFailed;
  useEffect(() => {
    if (!isWanted || setting === undefined) return;
    const controller = new AbortController();
    const request = {
      deviceIndex: device.index,
      settings: [setting],
      limit: LIMIT,
      cards: false,
    } as const;
    analysis
      .whatIf(request, {
        signal: controller.signal,
        onProgress(told) {
          if (told.kind !== 'running') store.setState((state) => withTold(state, LIMIT, told));
        },
      })
      .catch(() => setHasFailed(!controller.signal.aborted));
    return () => controller.abort();
  }, [analysis, store, device, setting, isWanted]);
  if (setting === undefined || recorded === undefined || result === undefined) return undefined;
  return {
    setting,
    recordedBytes: recorded.run.peakReservedBytes,
    neededBytes: result.peakReservedBytes,
    confidence: result.confidence,
    sentence: whatIfSentence(result, recorded.run),
  };
}
