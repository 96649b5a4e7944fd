/** `vramscope whatif --json`: the contract `vramscope.whatif/1`. */
import type { RecordedRun } from '../whatif/recorded-run.ts';
import type { WhatIfResult } from '../whatif/types.ts';

export interface WhatIfReport {
  readonly schema: 'vramscope.whatif/1';
  readonly devices: readonly WhatIfDevice[];
}

export interface WhatIfDevice {
  readonly device: number;
  readonly recorded: WhatIfFigures;
  /** In the order in which they were asked for; none where the file has no trace. */
  readonly cases: readonly WhatIfCase[];
}

export interface WhatIfFigures {
  /** As PYTORCH_CUDA_ALLOC_CONF has it; '' is the default. */
  readonly settings: string;
  readonly peakReservedBytes: number;
  readonly peakAllocatedBytes: number;
  readonly ooms: number;
  readonly retries: number;
}

export interface WhatIfCase extends WhatIfFigures {
  /** null: no limit. */
  readonly limitBytes: number | null;
}

/** What was simulated of one device. */
export interface WhatIfRuns {
  readonly device: number;
  readonly recorded: RecordedRun;
  readonly results: readonly WhatIfResult[];
}

export function buildWhatIf(devices: readonly WhatIfRuns[]): WhatIfReport {
  return {
    schema: 'vramscope.whatif/1',
    devices: devices.map(({ device, recorded, results }) => ({
      device,
      recorded: figures(recorded, recorded.ooms),
      cases: results.map((result) => {
        const { settings, ...peaks } = figures(result, result.ooms.length);
        return { settings, limitBytes: result.limitBytes ?? null, ...peaks };
      }),
    })),
  };
}

function figures(run: Omit<WhatIfFigures, 'ooms'>, ooms: number): WhatIfFigures {
  const { settings, peakReservedBytes, peakAllocatedBytes, retries } = run;
  return { settings, peakReservedBytes, peakAllocatedBytes, ooms, retries };
}
