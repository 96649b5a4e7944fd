import { Command, InvalidArgumentError } from 'commander';
import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { parseBytes } from '../../base/format.ts';
import { deviceOrder } from '../../output/report/device-order.ts';
import { buildWhatIf } from '../../output/report/whatif.ts';
import { whatIfText } from '../../output/report/whatif-text.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { type PrintOptions, printReport } from '../output-options.ts';
import { runWhatIf } from '../what-if-runs.ts';

interface WhatIfOptions extends PrintOptions {
  readonly setting?: readonly AllocConf[];
  readonly limit?: number | 'none';
  readonly smallestCard?: true;
  readonly partial?: true;
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
