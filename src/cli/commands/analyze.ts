import { type Command, InvalidArgumentError } from 'commander';
import { analyse } from '../../analysis/findings/analyse.ts';
import { DETECTOR_IDS, type DetectorId, detectorIdOf } from '../../analysis/findings/detectors.ts';
import type { FrameReport } from '../../device/model/frame-text.ts';
import { codeLines } from '../../device/model/source-code.ts';
import { buildFindings, type FindingsReport } from '../../output/report/findings.ts';
import { findingsText } from '../../output/report/findings-text.ts';
import { buildStats } from '../../output/report/stats.ts';
import { statsText } from '../../output/report/stats-text.ts';
import { deviceOrder } from '../../output/report/text.ts';
import { citeWhatIf } from '../../output/report/what-if-citation.ts';
import { type CliIo, FailedOn } from '../cli-io.ts';
import { type OpenedSnapshot, openSnapshot } from '../open-snapshot.ts';
import {
  addPrintOptions,
  commandOf,
  type PrintOptions,
  printReport,
  SNAPSHOT_ARGUMENT,
} from '../output-options.ts';
import { sourceReader } from '../serve/source-files.ts';

interface AnalyzeOptions extends PrintOptions {
  readonly failOn?: readonly DetectorId[];
  readonly source?: string;
}

const ANALYZE_EXAMPLES = `
  vramscope analyze snapshot.pickle
  vramscope analyze snapshot.pickle --markdown > findings.md
  vramscope analyze snapshot.pickle --fail-on growth,fragmentation,oom
`;

export function analyzeCommand(io: CliIo): Command {
  const about = 'explain why memory ran out or grows, at which line, and what to try first';
  const command = commandOf('analyze', about, ANALYZE_EXAMPLES)
    .argument('<file>', SNAPSHOT_ARGUMENT)
    .option(
      '--fail-on <detectors>',
      `exit with code 1 if one of these detectors has a finding of medium severity or higher: ${DETECTOR_IDS.join(', ')}`,
      parseDetectors,
    )
    .option('--source <folder>', "the program's code: shows the verdict's line, in a terminal");
  return addPrintOptions(command, 'findings/2', 'an issue or a chat').action(
    async (path: string, options: AnalyzeOptions) => {
      const opened = await openSnapshot(io, path, options);
      const report = await findingsOf(opened);
      const order = deviceOrder(opened.contexts);
      // Markdown and JSON are passed on.
      const isTerminal = !options.json && !options.markdown;
      const codeOf = isTerminal ? await verdictCode(report, opened, options.source) : undefined;
      printReport(io, options, {
        json: () => report,
        text: (write) => findingsText(report, write, order, codeOf),
      });
      const failing = options.failOn ?? [];
      if (isFailed(report, failing)) throw new FailedOn(failing);
    },
  );
}

export async function findingsOf({
  file,
  snapshot,
  contexts,
}: OpenedSnapshot): Promise<FindingsReport> {
  const analyses = [];
  for (const context of contexts) analyses.push(citeWhatIf(await analyse(context), context));
  return buildFindings(file, snapshot.devices, analyses);
}

/** The text of the verdicts' lines, where it is known. */
async function verdictCode(
  { devices }: FindingsReport,
  { snapshot }: OpenedSnapshot,
  folder: string | undefined,
): Promise<(line: FrameReport) => string | undefined> {
  const read = await sourceReader(snapshot, folder);
  const known = new Map<string, string | undefined>();
  const keyOf = ({ file, line }: FrameReport) => `${file}:${line}`;
  for (const { verdict } of devices) {
    const [line] = verdict?.lines ?? [];
    const text = line && (await read?.(line.file));
    if (line && text) known.set(keyOf(line), codeLines(text.pieces).get(line.line)?.trim());
  }
  return (line) => known.get(keyOf(line));
}

/** Findings of low severity never fail a run: the program is not at fault. */
function isFailed({ devices }: FindingsReport, failing: readonly DetectorId[]): boolean {
  return devices.some(({ findings }) =>
    findings.some(({ detector, severity }) => severity !== 'low' && failing.includes(detector)),
  );
}

function parseDetectors(text: string): DetectorId[] {
  return text.split(',').map((word) => {
    const id = detectorIdOf(word.trim());
    if (id !== undefined) return id;
    throw new InvalidArgumentError(
      `'${word}' is not a detector. Use one of ${DETECTOR_IDS.join(', ')}.`,
    );
  });
}

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
