import { Command } from 'commander';
import { buildStats } from '../../core/report/stats.ts';
import { statsText } from '../../core/report/stats-text.ts';
import { jsonText } from '../../core/report/text.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';

interface StatsOptions {
  readonly json?: true;
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
    .argument(
      '<file>',
      "a snapshot: pickle, gzip, zip, zstd, trace_plot's HTML or JSON; - for stdin",
    )
    .option('--json', 'print JSON of the schema vramscope.stats/1')
    .option('--partial', 'read a truncated file up to the damage')
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, { json, partial }: StatsOptions) => {
      const { file, snapshot, contexts } = await openSnapshot(io, path, {
        allowPartial: partial === true,
      });
      const report = buildStats(file, snapshot, contexts);
      const lines = json
        ? [jsonText(report)]
        : statsText(report, contexts, { columns: io.columns, color: io.color });
      io.writeOut(`${lines.join('\n')}\n`);
    });
}
