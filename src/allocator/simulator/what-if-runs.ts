/**
 * Runs of one recording under several settings, one after another. It yields every few milliseconds, so that a page
 * can pause and cancel, and the command line can stop when its time is up. Results yielded by then are kept.
 */
import type { AllocConf } from './alloc-conf.ts';
import { type RecordedRun, recordedLimit } from './recorded-run.ts';
import type { WhatIfInput } from './simulation.ts';
import type { WhatIfResult } from './types.ts';
import { type CardFit, type CardSearch, whatIf } from './what-if.ts';

/** Bytes PyTorch may reserve. 'recorded' is the recorded run's limit, if its failures reveal one. */
export type Limit = number | 'recorded' | 'none';

/** Undefined: no limit. */
export function limitBytesOf(
  limit: Limit,
  recorded: RecordedRun,
  input: WhatIfInput,
): number | undefined {
  if (limit === 'recorded') return recordedLimit(recorded, input);
  return limit === 'none' ? undefined : limit;
}

export interface WhatIfCase {
  readonly result: WhatIfResult;
  /**
   * The peak of reserved memory without waiting for other streams; undefined if no recorded free waited for one. The
   * result has the recorded delays, which vary from run to run, so the real peak lies roughly between the two.
   */
  readonly lowestBytes: number | undefined;
}

export interface RunPlan<Card> {
  readonly confs: readonly AllocConf[];
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** Of each result's curve. */
  readonly parts: number;
  /** After all runs, the card of each of these settings is searched. */
  readonly cards: readonly AllocConf[];
  readonly findCard: CardSearch<Card>;
}

export type RunStep<Card = CardFit> =
  /** `done`: share of the whole plan, 0 to 1. */
  | { readonly kind: 'running'; readonly settings: string; readonly done: number }
  | ({ readonly kind: 'case' } & WhatIfCase)
  | { readonly kind: 'card'; readonly settings: string; readonly card: Card };

/** Sent to the page as the plan runs. The recorded run comes first. */
export type WhatIfProgress =
  | {
      readonly kind: 'recorded';
      readonly recorded: RecordedRun;
      readonly limitBytes: number | undefined;
    }
  | RunStep;

/** Searching for a common card takes about two runs. */
const RUNS_A_CARD = 2;

export function* whatIfRuns<Card>(
  input: WhatIfInput,
  { confs, limitBytes, parts, cards, findCard }: RunPlan<Card>,
): Generator<RunStep<Card>, void> {
  const hasWaits = input.requests.delayedFrees > 0;
  const total = confs.length * (hasWaits ? 2 : 1) + cards.length * RUNS_A_CARD;
  let finished = 0;
  function* counted<T>({ text: settings }: AllocConf, runs: number, task: Generator<number, T>) {
    let step = task.next();
    for (; step.done !== true; step = task.next()) {
      const done = (finished + Math.min(step.value, runs)) / total;
      yield { kind: 'running', settings, done } as const;
    }
    finished += runs;
    return step.value;
  }

  const unlimited = new Map<string, WhatIfResult>();
  for (const conf of confs) {
    const result = yield* counted(conf, 1, whatIf(input, conf, { limitBytes, parts }));
    if (limitBytes === undefined) unlimited.set(conf.text, result);
    const atOnce = { limitBytes, parts: 1, freesAtOnce: true };
    const lowest = hasWaits ? yield* counted(conf, 1, whatIf(input, conf, atOnce)) : undefined;
    yield { kind: 'case', result, lowestBytes: lowest?.peakReservedBytes };
  }
  for (const conf of cards) {
    const search = findCard(input, conf, unlimited.get(conf.text));
    const card = yield* counted(conf, RUNS_A_CARD, search);
    yield { kind: 'card', settings: conf.text, card };
  }
}
