/** `vramscope whatif --json`: the contract `vramscope.whatif/1`. */
import type { RecordedRun } from '../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../allocator/simulator/types.ts';

export interface WhatIfReport {
  readonly schema: 'vramscope.whatif/1';
  readonly devices: readonly WhatIfDevice[];
}

export interface WhatIfDevice {
  readonly device: number;
  readonly recorded: WhatIfFigures;
  /** In the order in which they were asked for; none where the file has no trace. */
  readonly cases: readonly WhatIfCase[];
  /** What there was no time for; only where there is any. */
  readonly notSimulated?: readonly string[];
}

export interface WhatIfFigures {
  /** As PYTORCH_ALLOC_CONF has it; '' is the default. */
  readonly settings: string;
  readonly peakReservedBytes: number;
  readonly peakAllocatedBytes: number;
  /** As torch.cuda.memory_stats() counts num_ooms. */
  readonly ooms: number;
  /** Of these, requests that were made again at once for less: the program saw no error. Where there are any. */
  readonly oomsAskedAgain?: number;
  readonly retries: number;
}

export interface WhatIfCase extends WhatIfFigures {
  /** Had no free waited for another stream; only where some did. A real run lies about between the two. */
  readonly lowestPeakReservedBytes?: number;
  /** null: no limit. */
  readonly limitBytes: number | null;
}

/** What was simulated of one device. */
export interface WhatIfRuns {
  readonly device: number;
  readonly recorded: RecordedRun;
  readonly results: readonly WhatIfResult[];
  /** Peak reserved of each had no free waited for another stream; undefined where none did. */
  readonly lowestBytes: readonly (number | undefined)[];
  /** Settings, and what else was asked for, that were not simulated within `budgetMs`. */
  readonly notSimulated: readonly string[];
  readonly budgetMs: number;
}

export function buildWhatIf(devices: readonly WhatIfRuns[]): WhatIfReport {
  return {
    schema: 'vramscope.whatif/1',
    devices: devices.map(({ device, recorded, results, lowestBytes, notSimulated }) => ({
      device,
      recorded: figures(recorded, recorded.ooms),
      cases: results.map((result, i) => {
        const { settings, ...peaks } = figures(result, result.ooms.length);
        const limited = { settings, limitBytes: result.limitBytes ?? null, ...peaks };
        const lowest = lowestBytes[i];
        return lowest === undefined ? limited : { ...limited, lowestPeakReservedBytes: lowest };
      }),
      ...(notSimulated.length > 0 && { notSimulated }),
    })),
  };
}

type Run = Pick<
  RecordedRun,
  'settings' | 'peakReservedBytes' | 'peakAllocatedBytes' | 'retriedOoms' | 'retries'
>;

/** @param failures that the program saw */
function figures(run: Run, failures: number): WhatIfFigures {
  const { settings, peakReservedBytes, peakAllocatedBytes, retriedOoms, retries } = run;
  const ooms = failures + retriedOoms;
  const known = { settings, peakReservedBytes, peakAllocatedBytes, ooms, retries };
  return retriedOoms > 0 ? { ...known, oomsAskedAgain: retriedOoms } : known;
}
