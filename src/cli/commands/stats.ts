import type { Command } from 'commander';
import { buildStats } from '../../output/report/stats.ts';
import { statsText } from '../../output/report/stats-text.ts';
import type { CliIo } from '../cli-io.ts';
import { openSnapshot } from '../open-snapshot.ts';
import {
  addPrintOptions,
  commandOf,
  type PrintOptions,
  printReport,
  SNAPSHOT_ARGUMENT,
} from '../output-options.ts';

const STATS_EXAMPLES = `
  vramscope stats snapshot.pickle
  vramscope stats snapshot.pickle.gz --json | jq '.devices[0].peak.reservedBytes'
  ssh gpu-box cat snapshot.pickle | vramscope stats -
`;

export function statsCommand(io: CliIo): Command {
  const about = 'print requested, allocated, active and reserved memory at the end and at the peak';
  const command = commandOf('stats', about, STATS_EXAMPLES).argument('<file>', SNAPSHOT_ARGUMENT);
  return addPrintOptions(command, 'stats/1').action(async (path: string, options: PrintOptions) => {
    const { file, snapshot, contexts } = await openSnapshot(io, path, options);
    const report = buildStats(file, snapshot, contexts);
    printReport(io, options, {
      json: () => report,
      text: (_, style) => statsText(report, contexts, style),
    });
  });
}
