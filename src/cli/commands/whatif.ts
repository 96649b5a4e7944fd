import { type Command, InvalidArgumentError } from 'commander';
import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { recordedRun } from '../../allocator/simulator/recorded-run.ts';
import {
  type SmallestLimit,
  smallestLimit,
  whatIfInput,
} from '../../allocator/simulator/what-if.ts';
import {
  type Limit,
  limitBytesOf,
  type WhatIfCase,
  whatIfRuns,
} from '../../allocator/simulator/what-if-runs.ts';
import { parseBytes } from '../../base/format.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { needsNoSetting } from '../../device/model/main-device.ts';
import { whyNotSimulated } from '../../device/model/vendors.ts';
import { deviceOrder } from '../../output/report/text.ts';
import { buildWhatIf, type WhatIfRuns, whatIfText } from '../../output/report/whatif.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import {
  AS_FOR_STATS,
  addPrintOptions,
  commandOf,
  type PrintOptions,
  printReport,
} from '../output-options.ts';

interface WhatIfOptions extends PrintOptions {
  readonly setting?: readonly AllocConf[];
  readonly limit?: Limit;
  readonly smallestCard?: true;
}

const EXAMPLES = `
  vramscope whatif snapshot.pickle
  vramscope whatif snapshot.pickle --setting expandable_segments:True --limit 16GiB
  vramscope whatif snapshot.pickle --setting max_split_size_mb:128 --setting '' --smallest-card
  vramscope whatif snapshot.pickle --json | jq '.devices[0].cases[].peakReservedBytes'

Settings are written as in PYTORCH_ALLOC_CONF; '' is the default allocator. Without --setting,
ten that are worth trying are run. The limit is what PyTorch may reserve, as with
torch.cuda.set_per_process_memory_fraction(). Without --limit it is the one that the recorded run hit,
if it hit one; with --limit none nothing runs out of memory.
`;

export function whatIfCommand(io: CliIo): Command {
  const about = 'predict what the recorded run would have used under other allocator settings';
  const command = commandOf('whatif', about, EXAMPLES)
    .argument('<file>', AS_FOR_STATS)
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
    .option(
      '--smallest-card',
      'also find the smallest card each setting would fit (ten runs each)',
    );
  return addPrintOptions(command, 'whatif/1').action(
    async (path: string, options: WhatIfOptions) => {
      const { file, contexts } = await openSnapshot(io, path, options);
      const cuda = contexts.filter(({ trace }) => trace.kind === 'cuda');
      const { shown, note } = deviceOrder(cuda);
      const inOrder = options.json ? cuda : shown.flatMap((i) => cuda[i] ?? []);
      const devices = inOrder.map((context) =>
        runWhatIf(context, {
          confs: options.setting ?? PRESETS.map(parseSetting),
          arePresets: options.setting === undefined,
          limit: options.limit ?? 'recorded',
          withCards: options.smallestCard === true,
        }),
      );
      printReport(io, options, {
        json: () => buildWhatIf(devices),
        text: (write) => whatIfText(file.name, devices, note, write),
      });
    },
  );
}

function collectSetting(text: string, before: readonly AllocConf[] | undefined): AllocConf[] {
  return [...(before ?? []), parseSetting(text)];
}

function parseSetting(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (conf.ok) return conf;
  throw new InvalidArgumentError(`${conf.message} (character ${conf.position + 1}).`);
}

function parseLimit(text: string): Limit {
  if (text === 'none') return text;
  const bytes = parseBytes(text);
  if (bytes === undefined || bytes === 0) {
    throw new InvalidArgumentError('Enter a size such as 16GiB, or none.');
  }
  return bytes;
}

export interface WhatIfQuestion {
  readonly confs: readonly AllocConf[];
  readonly limit: Limit;
  readonly arePresets?: boolean;
  readonly withCards?: boolean;
  /** Time limit for everything; what is left is listed in `notSimulated`. */
  readonly budgetMs?: number;
}

/** A run takes 0.2 us an event. One that takes a hundred times that comes from a file made to be slow. */
const LEAST_BUDGET_MS = 5000;
const BUDGET_US_PER_EVENT = 100;

export function runWhatIf(
  { trace, replay, snapshot, stacks }: DeviceModel,
  { confs, limit, arePresets = false, withCards = false, ...question }: WhatIfQuestion,
): WhatIfRuns {
  const input = whatIfInput(trace, replay, snapshot.settings, stacks);
  const recorded = recordedRun(input, 1);
  const limitBytes = limitBytesOf(limit, recorded, input);
  const { length } = trace.events;
  const budgetMs = question.budgetMs ?? LEAST_BUDGET_MS + (length * BUDGET_US_PER_EVENT) / 1000;
  const unavailable = whyNotSimulated(trace);
  const wanted = length === 0 || unavailable !== undefined ? [] : confs;
  const plan = { confs: wanted, limitBytes, parts: 1, findCard: smallestLimit };
  const cases: WhatIfCase[] = [];
  const cards: SmallestLimit[] = [];
  const endMs = performance.now() + budgetMs;
  const runs = whatIfRuns(input, { ...plan, cards: withCards ? wanted : [] });
  while (performance.now() <= endMs) {
    const { value: step, done } = runs.next();
    if (done === true) break;
    if (step.kind === 'case') cases.push(step);
    else if (step.kind === 'card') cards.push(step.card);
  }
  const names = wanted.map(({ text }) => (text === '' ? '(default)' : text));
  const noCards = withCards ? names.slice(cards.length, cases.length) : [];
  return {
    device: trace.device,
    unavailable,
    recorded,
    limitBytes,
    isLimitRecorded: limit === 'recorded' && limitBytes !== undefined,
    needsNothing: typeof limit === 'string' && needsNoSetting(recorded, replay.peaks),
    arePresets,
    cases: cases.map((one, i) => ({ ...one, smallest: cards[i] })),
    notSimulated: [
      ...names.slice(cases.length),
      ...noCards.map((name) => `smallest card of ${name}`),
    ],
    budgetMs,
  };
}
