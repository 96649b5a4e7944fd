import { Command, InvalidArgumentError } from 'commander';
import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { recordedLimit, recordedRun } from '../../allocator/simulator/recorded-run.ts';
import { smallestCard, whatIf, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { parseBytes } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { deviceOrder } from '../../output/report/text.ts';
import { buildWhatIf, type WhatIfRuns, whatIfText } from '../../output/report/whatif.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { type PrintOptions, printReport } from '../output-options.ts';

interface WhatIfOptions extends PrintOptions {
  readonly setting?: readonly AllocConf[];
  readonly limit?: number | 'none';
  readonly smallestCard?: true;
}

const EXAMPLES = `
Examples:
  vramscope whatif snapshot.pickle
  vramscope whatif snapshot.pickle --setting expandable_segments:True --limit 16GiB
  vramscope whatif snapshot.pickle --setting max_split_size_mb:128 --setting '' --smallest-card
  vramscope whatif snapshot.pickle --json | jq '.devices[0].cases[].peakReservedBytes'

Settings are written as in PYTORCH_ALLOC_CONF; '' is the default allocator. Without --setting,
ten that are worth trying are tried. The limit is what PyTorch may reserve, as with
torch.cuda.set_per_process_memory_fraction(). Without --limit it is the one that the recorded run hit,
if it hit one; with --limit none nothing runs out of memory.
`;

export function whatIfCommand(io: CliIo): Command {
  return new Command('whatif')
    .description('predict what the recorded run would have used under other allocator settings')
    .argument('<file>', 'a snapshot, as for stats; - for stdin')
    .option(
      '--setting <str>',
      'settings to try; repeat the option to compare several',
      collectSetting,
    )
    .option(
      '--limit <bytes>',
      'how much memory PyTorch may reserve: 16GiB, 800MiB, none',
      parseLimit,
    )
    .option('--smallest-card', 'also find the smallest card each setting would fit (ten runs each)')
    .option('--json', 'print JSON of the schema vramscope.whatif/1')
    .option('--partial', 'read a truncated file up to the damage')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: WhatIfOptions) => {
      const { file, contexts } = await openSnapshot(io, path, options);
      const cuda = contexts.filter(({ trace }) => trace.kind === 'cuda');
      const { shown, note } = deviceOrder(cuda);
      const inOrder = options.json ? cuda : shown.flatMap((i) => cuda[i] ?? []);
      const devices = inOrder.map((context) =>
        runWhatIf(context, {
          confs: options.setting ?? PRESETS.map(parseSetting),
          limit: options.limit,
          withLowest: true,
          withCards: options.smallestCard === true,
        }),
      );
      printReport(io, options, {
        json: () => buildWhatIf(devices),
        text: (style) => whatIfText(file.name, devices, note, style),
      });
    });
}

function collectSetting(text: string, before: readonly AllocConf[] | undefined): AllocConf[] {
  return [...(before ?? []), parseSetting(text)];
}

function parseSetting(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (conf.ok) return conf;
  throw new InvalidArgumentError(`${conf.message} (character ${conf.position + 1}).`);
}

function parseLimit(text: string): number | 'none' {
  if (text === 'none') return text;
  const bytes = parseBytes(text);
  if (bytes === undefined || bytes === 0) {
    throw new InvalidArgumentError('Enter a size such as 16GiB, or none.');
  }
  return bytes;
}

export interface WhatIfQuestion {
  readonly confs: readonly AllocConf[];
  /** Bytes PyTorch may reserve; undefined means the limit that the recorded run hit. */
  readonly limit: number | 'none' | undefined;
  /** Also simulate without waiting for other streams, if a recorded free waited for one. */
  readonly withLowest?: boolean;
  readonly withCards?: boolean;
  /** Time limit for everything; what is left is listed in `notSimulated`. */
  readonly budgetMs?: number;
}

/** A run takes 0.2 us an event. One that takes a hundred times that comes from a file made to be slow. */
const LEAST_BUDGET_MS = 5000;
const BUDGET_US_PER_EVENT = 100;

export function runWhatIf(
  { trace, replay, snapshot }: DeviceModel,
  { confs, limit, ...question }: WhatIfQuestion,
): WhatIfRuns {
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

/** Starts no new work once the time is up. */
class Budget {
  readonly unspent: string[] = [];
  readonly #endMs: number;

  constructor(budgetMs: number) {
    this.#endMs = performance.now() + budgetMs;
  }

  /** Returns undefined when no time was left; the name is then in `unspent`. */
  spend<T>(name: string, task: Generator<unknown, T>): T | undefined {
    while (performance.now() <= this.#endMs) {
      const step = task.next();
      if (step.done === true) return step.value;
    }
    this.unspent.push(name);
    return undefined;
  }
}
