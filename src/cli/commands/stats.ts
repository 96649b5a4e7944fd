import { Command } from 'commander';
import { buildStats } from '../../output/report/stats.ts';
import { statsText } from '../../output/report/stats-text.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import { type PrintOptions, printReport, SNAPSHOT_ARGUMENT } from '../output-options.ts';

interface StatsOptions extends PrintOptions {
  readonly partial?: true;
}

const EXAMPLES = `
Examples:
  vramscope stats snapshot.pickle
  vramscope stats snapshot.pickle.gz --json | jq '.devices[0].peak.reservedBytes'
  ssh gpu-box cat snapshot.pickle | vramscope stats -
`;

export function statsCommand(io: CliIo): Command {
  return new Command('stats')
    .description(
      'print requested, allocated, active and reserved memory at the end and at the peak',
    )
    .argument('<file>', SNAPSHOT_ARGUMENT)
    .option('--json', 'print JSON of the schema vramscope.stats/1')
    .option('--partial', 'read a truncated file up to the damage')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: StatsOptions) => {
      const { file, snapshot, contexts } = await openSnapshot(io, path, options);
      const report = buildStats(file, snapshot, contexts);
      printReport(io, options, {
        json: () => report,
        text: (style) => statsText(report, contexts, style),
      });
    });
}
