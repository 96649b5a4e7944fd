/** Opens a file as the command line does, and says how it went: well, refused in words, or not as promised. */

import { replayDevice } from '../../allocator/replay/replay.ts';
import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { simulate, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { LoadError } from '../../base/load-error.ts';
import { nodePlatform } from '../../cli/byte-sources.ts';
import { createDeviceModels } from '../../device/model/device-model.ts';
import { readSnapshot } from '../../format/input/read-snapshot.ts';
import {
  ACTION_NAMES,
  BlockState,
  type Snapshot,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { buildStats } from '../../output/report/stats.ts';
import { statsText } from '../../output/report/stats-text.ts';
import { bytesSource } from '../byte-source.ts';
import type { Commands } from './commands.ts';
import type { EventFigures, Figures, OracleAnswer, SegmentFigures } from './oracle.ts';
import { around, noFigureIn } from './own-words.ts';

/** The first four are fine; the others are our faults. */
export const OUTCOMES = [
  'opened, as CPython reads it',
  'opened, CPython not asked',
  'opened with a warning',
  'refused in one sentence',
  'crash',
  'a promised part does not open',
  'a figure that is not a number',
  'a command that does not answer well',
  'a figure that differs from CPython, without a warning',
] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly detail: string;
}

export const isFault = ({ kind }: Outcome): boolean => OUTCOMES.indexOf(kind) > 3;

/**
 * @param ask what CPython makes of the bytes; undefined if they are not a pickle or there is no Python
 * @param commands runs every command too
 */
export async function judge(
  bytes: Uint8Array,
  ask: (() => Promise<OracleAnswer>) | undefined,
  commands?: Commands,
): Promise<Outcome> {
  try {
    const fault = await commands?.fault(bytes);
    if (fault !== undefined) return { kind: 'a command that does not answer well', detail: fault };
    const { snapshot, file } = await readSnapshot(bytesSource(bytes), nodePlatform);
    const bad = workThrough(snapshot, file);
    if (bad !== undefined) return { kind: 'a figure that is not a number', detail: bad };
    if (snapshot.warnings.some(({ code }) => code !== 'no-trace')) {
      return { kind: 'opened with a warning', detail: snapshot.warnings[0]?.code ?? '' };
    }
    const answer = await ask?.();
    if (answer === undefined || 'refused' in answer) {
      return { kind: 'opened, CPython not asked', detail: '' };
    }
    const difference = compare(snapshot, answer);
    if (difference === undefined) return { kind: 'opened, as CPython reads it', detail: '' };
    return { kind: 'a figure that differs from CPython, without a warning', detail: difference };
  } catch (error) {
    if (!(error instanceof LoadError)) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { kind: 'crash', detail };
    }
    return await refusal(bytes, error);
  }
}

/** The promised events must be there. */
async function refusal(bytes: Uint8Array, { failure }: LoadError): Promise<Outcome> {
  const detail = failure.code;
  if (failure.partialEvents === undefined) return { kind: 'refused in one sentence', detail };
  try {
    const options = { allowPartial: true };
    const { snapshot, file } = await readSnapshot(bytesSource(bytes), nodePlatform, options);
    const events = snapshot.devices.reduce((sum, device) => sum + device.events.length, 0);
    const bad = workThrough(snapshot, file);
    if (bad !== undefined) return { kind: 'a figure that is not a number', detail: bad };
    if (events === failure.partialEvents) return { kind: 'refused in one sentence', detail };
    const found = `${failure.partialEvents} promised, ${events} opened`;
    return { kind: 'a promised part does not open', detail: found };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return { kind: 'a promised part does not open', detail: error.message };
  }
}

/** What a user sees first, plus a simulation: NaN or infinity shows up here. */
function workThrough(
  snapshot: Snapshot,
  file: Parameters<typeof buildStats>[0],
): string | undefined {
  const replays = snapshot.devices.map((trace) => replayDevice(trace, snapshot.settings));
  const contexts = createDeviceModels(snapshot, replays);
  const report = buildStats(file, snapshot, contexts);
  const options = { columns: 80, color: false };
  const figures = statsText({ ...report, warnings: [] }, contexts, options).join('\n');
  // Names of settings are the file's words.
  const texts = [figures.replace(/^ {2}.* = /gm, ''), ...report.warnings.map((one) => one.message)];
  for (const text of texts) {
    const bad = noFigureIn(text) ?? around(/−\d/, text);
    if (bad !== undefined) return bad;
  }
  const shown = statsText(report, contexts, options).join('\n');
  const unseen = around(/[^\P{Cc}\n]|\p{Bidi_Control}|\u2028/u, shown);
  if (unseen !== undefined) return unseen;
  snapshot.devices.forEach((trace, i) => {
    const conf = parseAllocConf(PRESETS[i % PRESETS.length] ?? '');
    if (!conf.ok || trace.kind !== 'cuda' || trace.events.length === 0) return;
    simulate(whatIfInput(trace, replays[i] as never, snapshot.settings), conf, { parts: 1 });
  });
  return undefined;
}

function compare(snapshot: Snapshot, answer: OracleAnswer): string | undefined {
  if ('none' in answer) return 'CPython finds no snapshot in it';
  if ('odd' in answer) return `CPython: ${answer.odd}`;
  if ('refused' in answer) return undefined;
  const ours = JSON.stringify(figuresOf(snapshot, answer.traces.length));
  const theirs = JSON.stringify({
    traces: answer.traces,
    segments: [...answer.segments].sort(bySegment),
  });
  if (ours === theirs) return undefined;
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const from = Math.max(0, at - 60);
  return `ours ${ours.slice(from, at + 60)} | CPython ${theirs.slice(from, at + 60)}`;
}

function figuresOf(snapshot: Snapshot, traces: number): Figures {
  const cuda = snapshot.devices.filter(
    ({ kind, events }) => kind === 'cuda' || events.timeUs === undefined,
  );
  return {
    traces: Array.from({ length: traces }, (_, device) => {
      const trace = cuda.find((each) => each.device === device);
      return trace === undefined ? [] : eventsOf(snapshot, trace);
    }),
    segments: cuda.flatMap((trace) => segmentsOf(snapshot, trace)).sort(bySegment),
  };
}

type Trace = Snapshot['devices'][number];

function eventsOf(snapshot: Snapshot, trace: Trace): EventFigures[] {
  const { strings, stacks, addresses, startUs } = snapshot;
  const { events, streams } = trace;
  const depthOf = (stack: number): number => {
    let depth = stack < 0 ? -1 : 0;
    for (let row = stack; row > 0; row = stacks.parent[row]) depth++;
    return depth;
  };
  return Array.from({ length: events.length }, (_, i) => {
    const timeUs = startUs + (events.timeUs?.[i] ?? Number.NaN);
    return [
      events.action[i] === TraceAction.Unknown
        ? (events.unknownActions.get(i) ?? '')
        : ACTION_NAMES[events.action[i]],
      String(addresses.toBigInt(events.address[i])),
      String(events.sizeBytes[i]),
      String(streams[events.stream[i]]?.handle ?? 0),
      Number.isNaN(timeUs) ? '' : String(timeUs),
      depthOf(events.stack[i]),
      (events.category?.[i] ?? -1) < 0 ? '' : strings.get(events.category?.[i] ?? 0),
    ];
  });
}

const STATE_NAMES = {
  [BlockState.Inactive]: 'inactive',
  [BlockState.Allocated]: 'active_allocated',
  [BlockState.PendingFree]: 'active_pending_free',
} as const;

function segmentsOf(
  { addresses }: Snapshot,
  { device, segments, blocks }: Trace,
): SegmentFigures[] {
  return Array.from({ length: segments.length }, (_, i) => {
    const own: [string, string, string][] = [];
    for (let b = segments.firstBlock[i]; b < segments.firstBlock[i + 1]; b++) {
      own.push([
        String(addresses.toBigInt(blocks.address[b])),
        String(blocks.sizeBytes[b]),
        STATE_NAMES[blocks.state[b] as BlockState],
      ]);
    }
    const address = String(addresses.toBigInt(segments.address[i]));
    return [String(device), address, String(segments.totalBytes[i]), own];
  });
}

/** Sorts both sides the same way. */
function bySegment(a: SegmentFigures, b: SegmentFigures): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : Number(left > right);
}
