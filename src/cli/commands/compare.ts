import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { compareSides } from '../../analysis/compare/compare.ts';
import { compareSeries } from '../../analysis/compare/series.ts';
import {
  failedThresholds,
  parseThreshold,
  THRESHOLD_COUNTERS,
  type Threshold,
} from '../../analysis/compare/thresholds.ts';
import type { RunProfile } from '../../analysis/compare/types.ts';
import { buildComparison } from '../../output/report/comparison.ts';
import { comparisonText } from '../../output/report/comparison-text.ts';
import { buildSeries, seriesText } from '../../output/report/series.ts';
import { type CliIo, FailedOn } from '../cli-io.ts';
import { createJobPool, readSide, type SideRequest } from '../jobs.ts';
import {
  addPrintOptions,
  commandOf,
  type PrintOptions,
  parseWhole,
  printReport,
} from '../output-options.ts';

interface CompareOptions extends PrintOptions {
  readonly at: 'peak' | 'end';
  readonly device?: number;
  readonly deviceB?: number;
  readonly failOn?: readonly Threshold[];
}

const EXAMPLES = `
  vramscope compare before.pickle after.pickle
  vramscope compare main.pickle branch.pickle --markdown > comment.md
  vramscope compare main.pickle branch.pickle --fail-on allocated:+2% --fail-on active:+512MiB
  vramscope compare step100.pickle step200.pickle step300.pickle

Each file is looked at where its allocated memory peaks. Three or more files are a series of one run.
--fail-on takes a counter (${Object.keys(THRESHOLD_COUNTERS).join(', ')}) and how much B may be above A.
In CI, gate allocated and not reserved: reserved memory varies between runs of the same work.
`;

export function compareCommand(io: CliIo): Command {
  const about = 'say why one run needs more memory than another: by call site, class, and cause';
  const command = commandOf('compare', about, EXAMPLES)
    .argument('<a>', 'a snapshot, as for stats; - for stdin')
    .argument('<b...>', 'the snapshot to compare with it; more make a series')
    .addOption(
      new Option('--at <moment>', 'look at the peak or at the end of each recording')
        .choices(['peak', 'end'])
        .default('peak'),
    )
    .option(
      '--device <position>',
      'position of the device in the files (default: the one with the highest peak)',
      parseWhole,
    )
    .option('--device-b <position>', 'position of the device in B, if it differs', parseWhole)
    .option(
      '--fail-on <gate>',
      'exit with code 1 if B is above A by more than this: allocated:+2%; may be given again',
      collectGate,
    );
  return addPrintOptions(command, 'compare/1', 'a pull request').action(
    async (first: string, others: string[], options: CompareOptions) => {
      const paths = [first, ...others];
      const problem = usageProblem(paths, options);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const requests = paths.map((path, i) => ({
        path,
        deviceIndex: (i === 0 ? undefined : options.deviceB) ?? options.device,
        at: options.at,
        allowPartial: options.partial === true,
      }));
      const sides = await readSides(requests, io);
      const [a, b, ...rest] = sides;
      if (a === undefined || b === undefined) return;
      if (rest.length > 0) {
        const series = compareSeries(sides);
        printReport(io, options, {
          json: () => buildSeries(series),
          text: (write) => seriesText(series, write),
        });
        return;
      }
      const comparison = compareSides(a, b);
      const failed = failedThresholds(a, b, options.failOn ?? [], options.at);
      printReport(io, options, {
        json: () => buildComparison(comparison, options.at, failed),
        text: (write) => comparisonText(comparison, failed, write),
      });
      if (failed.length > 0) throw new FailedOn(failed.map(({ gate }) => gate));
    },
  );
}

/** A thread takes longer to start, and to compile the same code again, than to read a shorter file. */
const THREADS_FROM_BYTES = 32 * 2 ** 20;

const isLong = ({ path }: SideRequest): Promise<boolean> =>
  stat(path).then(
    ({ size }) => size >= THREADS_FROM_BYTES,
    () => false,
  );

/** @throws LoadError that names the first file that cannot be read */
async function readSides(
  requests: readonly SideRequest[],
  io: CliIo,
): Promise<readonly RunProfile[]> {
  const isWorthThreads = (await Promise.all(requests.map(isLong))).includes(true);
  const pool = createJobPool(isWorthThreads ? io.workerScript : undefined, availableParallelism());
  // This thread, which has started already, reads the last file itself.
  const read = (request: SideRequest, i: number) =>
    request.path === '-' || i === requests.length - 1
      ? readSide(request, io)
      : pool.call('readSide', request);
  try {
    return await Promise.all(requests.map(read));
  } finally {
    pool.close();
  }
}

function usageProblem(paths: readonly string[], options: CompareOptions): string | undefined {
  if (paths.filter((path) => path === '-').length > 1) return 'only one of the files can be stdin';
  if (paths.length > 2 && options.failOn !== undefined) return '--fail-on takes two files';
  return undefined;
}

function collectGate(text: string, before: readonly Threshold[] | undefined): Threshold[] {
  const gates = text.split(',').map((one) => {
    const gate = parseThreshold(one);
    if (gate !== undefined) return gate;
    throw new InvalidArgumentError(
      `'${one}' is no limit. Write a counter and how much B may be above A: allocated:+2%, reserved:+512MiB. Counters: ${Object.keys(THRESHOLD_COUNTERS).join(', ')}.`,
    );
  });
  return [...(before ?? []), ...gates];
}
