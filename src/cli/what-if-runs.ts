/** The recorded run of a device and those under other settings, in the time that a question may take. */

import type { AllocConf } from '../allocator/simulator/alloc-conf.ts';
import { recordedLimit, recordedRun } from '../allocator/simulator/recorded-run.ts';
import { smallestCard, whatIf, whatIfInput } from '../allocator/simulator/what-if.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import type { WhatIfTextRuns } from '../output/report/whatif-text.ts';

export interface WhatIfQuestion {
  readonly confs: readonly AllocConf[];
  /** Bytes PyTorch may reserve; undefined: the limit that the recorded run hit. */
  readonly limit: number | 'none' | undefined;
  /** Also without waits for other streams, where a recorded free waited for one. */
  readonly withLowest?: boolean;
  readonly withCards?: boolean;
  /** All of it may take so long; what is left then is named in `notSimulated`. */
  readonly budgetMs?: number;
}

/** A run takes 0.2 us an event; one that takes a hundred times that is of a file made to take long. */
const LEAST_BUDGET_MS = 5000;
const BUDGET_US_PER_EVENT = 100;

export function runWhatIf(
  { trace, replay, snapshot }: DeviceModel,
  { confs, limit, ...question }: WhatIfQuestion,
): WhatIfTextRuns {
  const input = whatIfInput(trace, replay, snapshot.settings);
  const recorded = recordedRun(input, 1);
  const recordedBytes = limit === undefined ? recordedLimit(recorded, input) : undefined;
  const limitBytes = limit === 'none' ? undefined : (limit ?? recordedBytes);
  const budgetMs =
    question.budgetMs ?? LEAST_BUDGET_MS + (trace.events.length * BUDGET_US_PER_EVENT) / 1000;
  const budget = new Budget(budgetMs);
  const run = (conf: AllocConf, freesAtOnce: boolean) => {
    const name = nameOf(conf);
    return budget.spend(
      freesAtOnce ? `${name} without waits` : name,
      whatIf(input, conf, { limitBytes, parts: 1, freesAtOnce }),
    );
  };
  const wanted = trace.events.length === 0 ? [] : confs;
  const simulated = wanted.flatMap((conf) => {
    const result = run(conf, false);
    return result === undefined ? [] : [{ conf, result }];
  });
  const hasWaits = question.withLowest === true && input.requests.delayedFrees > 0;
  return {
    device: trace.device,
    recorded,
    limitBytes,
    isLimitRecorded: recordedBytes !== undefined,
    results: simulated.map(({ result }) => result),
    lowestBytes: simulated.map(({ conf }) =>
      hasWaits ? run(conf, true)?.peakReservedBytes : undefined,
    ),
    smallest: simulated.map(({ conf }) =>
      question.withCards === true
        ? budget.spend(`smallest card of ${nameOf(conf)}`, smallestCard(input, conf))
        : undefined,
    ),
    notSimulated: budget.unspent,
    budgetMs,
  };
}

const nameOf = ({ text }: AllocConf): string => (text === '' ? '(default)' : text);

/** Work until the time is up; from then on none is begun. */
class Budget {
  readonly unspent: string[] = [];
  readonly #endMs: number;

  constructor(budgetMs: number) {
    this.#endMs = performance.now() + budgetMs;
  }

  /** undefined where there was no time for it: its name is then among `unspent`. */
  spend<T>(name: string, task: Generator<unknown, T>): T | undefined {
    while (performance.now() <= this.#endMs) {
      const step = task.next();
      if (step.done === true) return step.value;
    }
    this.unspent.push(name);
    return undefined;
  }
}
