/** What an agent can ask: the command line's reports, and the memory itself by line and by allocation. */
import { z } from 'zod';
import { liveAt } from '../../allocator/replay/trace-events.ts';
import { NEVER } from '../../allocator/replay/types.ts';
import { parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../../allocator/simulator/presets.ts';
import { buildProfile } from '../../analysis/compare/build-profile.ts';
import { compareSides } from '../../analysis/compare/compare.ts';
import { allocationList } from '../../device/lists/allocation-rows.ts';
import { orderCallSites } from '../../device/lists/call-site-table.ts';
import { callSiteTable } from '../../device/model/call-sites.ts';
import { deviceInfo, failedOoms } from '../../device/model/device-info.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { leafText } from '../../device/model/frame-text.ts';
import { absenceText, type CallSiteLine, callSiteLine } from '../../device/model/stacks.ts';
import { whyNotSimulated } from '../../device/model/vendors.ts';
import { matchAllocations } from '../../device/search/match-search.ts';
import { loadRegexEngine, mayHoldRegex } from '../../device/search/regex.ts';
import { NO_STACK } from '../../format/snapshot/tables.ts';
import { buildComparison } from '../../output/report/comparison.ts';
import type { DeviceFindings } from '../../output/report/findings.ts';
import { buildStats } from '../../output/report/stats.ts';
import { buildWhatIf } from '../../output/report/whatif.ts';
import { findingsOf } from '../commands/analyze.ts';
import { runWhatIf } from '../commands/whatif.ts';
import { answerText, DEFAULT_ANSWER_BYTES, MAX_ANSWER_BYTES, pageText, refusal } from './answer.ts';
import { openDevice } from './open-files.ts';

interface Tool {
  /** All that a model knows about the tool. */
  readonly description: string;
  readonly input: z.ZodRawShape;
  /** @throws LoadError for errors that the agent can fix; its message becomes the answer */
  readonly answer: (input: never) => Promise<string>;
}

const tool = <Shape extends z.ZodRawShape>(
  description: string,
  input: Shape,
  answer: (input: z.infer<z.ZodObject<Shape>>) => Promise<string>,
): Tool => ({ description, input, answer });

const whole = z.number().int();
const FILE = {
  file: z.string().describe('Path of a snapshot: .pickle, also gzip, zip, zstd, or HTML.'),
  maxBytes: whole
    .min(500)
    .max(MAX_ANSWER_BYTES)
    .default(DEFAULT_ANSWER_BYTES)
    .describe('Upper bound of the answer in bytes.'),
  offset: whole.min(0).default(0).describe('Rows to skip: the `next` of the answer before.'),
};
const DEVICE = {
  ...FILE,
  device: whole
    .optional()
    .describe('CUDA device number; by default the device with the most memory.'),
};
const PART = {
  part: z
    .string()
    .default('')
    .describe(
      'Only this part of the report, such as findings.2 or callSites. A list is given in pages.',
    ),
};
const SEARCH = {
  search: z
    .string()
    .default('')
    .describe(
      'Which allocations: words of a function or file, and qualifiers such as size>64MiB, file:train.py, state:live. "-" before a term excludes.',
    ),
};

/** In the order an agent is likely to need them. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  open: tool(
    'Call this first. Says what a PyTorch CUDA memory snapshot holds: the verdict on the device with the most memory, devices, how complete the recording is, peaks, OOMs, warnings.',
    FILE,
    async ({ file: path, ...wanted }) => {
      const { file, position } = await openDevice(path, undefined);
      const verdict = (await file.once(findingsOf)).devices[position]?.verdict;
      const { devices, warnings } = buildStats(file.file, file.snapshot, file.contexts);
      const heads = devices.map(({ device, kind, events, allocations, recording, peak, ooms }) => ({
        ...{ device, kind, events, allocations, recording, peak },
        ooms: ooms.length,
      }));
      const messages = warnings.map(({ message }) => message);
      const report = { file: file.file.name, verdict, devices: heads, warnings: messages };
      return answerText(report, { part: '', ...wanted });
    },
  ),
  findings: tool(
    'Why memory ran out or grows: the verdict, where every reserved byte is, and findings (leaks, fragmentation, OOMs, kept graphs), each with its line of user code, bytes, and what to try. With part = findings.0, one as `vramscope analyze --json` has it: stack, parts, facts, and how to disprove it.',
    { ...DEVICE, ...PART },
    async ({ file: path, device, ...wanted }) => {
      const { file, position } = await openDevice(path, device);
      const [report] = (await file.once(findingsOf)).devices.slice(position);
      if (report === undefined) throw refusal('The file holds no device.');
      return answerText(wanted.part === '' ? briefReport(report) : report, wanted);
    },
  ),
  stats: tool(
    'Requested, allocated, active and reserved bytes at the start, at the end and at the peak, equal to torch.cuda.memory_stats(); every OOM; the allocator settings. As `vramscope stats --json`.',
    { ...DEVICE, ...PART },
    async ({ file: path, device, ...wanted }) => {
      const { file, position } = await openDevice(path, device);
      const report = buildStats(file.file, file.snapshot, file.contexts);
      return answerText(
        { ...report, devices: report.devices.slice(position, position + 1) },
        wanted,
      );
    },
  ),
  call_sites: tool(
    'Which lines of the program hold the memory that is live at one event, the most bytes first. At the first OOM, else at the peak of allocated bytes, unless `at` says otherwise.',
    {
      ...DEVICE,
      ...SEARCH,
      at: z
        .union([whole, z.enum(['peak', 'oom', 'end'])])
        .optional()
        .describe('An event number, or: peak (of allocated bytes), oom (the first), end.'),
    },
    async ({ file: path, device: number, search, at, ...wanted }) => {
      const { device } = await openDevice(path, number);
      const event = eventOf(device, at);
      const rows = callSites(device, event, await maskOf(device, search, event));
      const liveBytes = rows.reduce((sum, { bytes }) => sum + bytes, 0);
      return pageText(rows.slice(wanted.offset), wanted, rows.length, { event, liveBytes });
    },
  ),
  allocations: tool(
    'Allocations that match a search, sorted: size, when allocated and freed (event numbers; freed null: still there at the end), stream, pool, line of code.',
    {
      ...DEVICE,
      ...SEARCH,
      sort: z
        .enum(['size', 'lifetime', 'cost', 'start', 'waste'])
        .default('size')
        .describe('Largest first; start: first allocated first. cost: size times lifetime.'),
    },
    async ({ file: path, device: number, search, sort, ...wanted }) => {
      const { device } = await openDevice(path, number);
      const mask = await maskOf(device, search, undefined);
      const order = { key: sort, isDescending: sort !== 'start', clock: 'events' } as const;
      const list = allocationList(device, mask, { ...order, at: undefined });
      const { offset, maxBytes } = wanted;
      // A row takes at least 100 bytes, so no more rows than this can fit.
      const described = list.rows(offset, offset + Math.ceil(maxBytes / 100), undefined);
      const rows = described.map((row) => ({
        name: row.label,
        bytes: row.blockBytes,
        requestedBytes: row.requestedBytes,
        allocatedAt: row.startEvent < 0 ? 'before the trace' : row.startEvent,
        freedAt: row.endEvent === NEVER ? null : row.endEvent,
        stream: row.stream,
        pool: row.pool,
        class: row.class,
        line: lineText(row.line),
      }));
      return pageText(rows, wanted, list.length);
    },
  ),
  what_if: tool(
    'Runs the recorded requests again under other PYTORCH_ALLOC_CONF settings: peak reserved bytes and OOMs of each. Without settings, ten that are worth trying. As `vramscope whatif --json`.',
    {
      ...DEVICE,
      ...PART,
      settings: z
        .array(z.string())
        .optional()
        .describe('For example ["expandable_segments:True", "max_split_size_mb:128"].'),
      limitBytes: z
        .number()
        .positive()
        .optional()
        .describe('What PyTorch may reserve; by default the limit that the recorded run hit.'),
    },
    async ({ file: path, device: number, settings, limitBytes, ...wanted }) => {
      const { device } = await openDevice(path, number);
      if (device.trace.events.length === 0)
        throw refusal('The snapshot has no trace: there are no requests to run again.');
      const unavailable = whyNotSimulated(device.trace);
      if (unavailable !== undefined) throw refusal(unavailable);
      const confs = (settings ?? PRESETS).map((text) => {
        const conf = parseAllocConf(text);
        if (conf.ok) return conf;
        throw refusal(`${text}: ${conf.message} (character ${conf.position + 1}).`);
      });
      return answerText(
        buildWhatIf([runWhatIf(device, { confs, limit: limitBytes ?? 'recorded' })]),
        wanted,
      );
    },
  ),
  compare: tool(
    'Why one snapshot needs more than another, as `vramscope compare --json` says it: a verdict in words, causes, and the call sites that changed, the largest change first. The differences add up to the byte.',
    {
      ...FILE,
      ...PART,
      file: FILE.file.describe('The snapshot to compare with: the baseline, A.'),
      other: z.string().describe('The snapshot that is asked about, B.'),
      at: z.enum(['peak', 'end']).default('peak'),
    },
    async ({ file: a, other: b, at, ...wanted }) => {
      const profileOf = async (path: string) => {
        const { file, device, position } = await openDevice(path, undefined);
        return buildProfile(device, { file: file.file, deviceIndex: position, at });
      };
      const comparison = compareSides(await profileOf(a), await profileOf(b));
      const { verdict, ...report } = buildComparison(comparison, at, []);
      return answerText({ verdict, ...report }, wanted);
    },
  ),
};

/** A first overview, without stacks, parts and facts, which `part` returns. */
const briefReport = ({ verdict, account, checks, findings }: DeviceFindings) => ({
  verdict,
  account,
  findings: findings.map(({ detector, severity, bytes, claim, frame, advice }) => ({
    ...{ detector, severity, bytes, claim, frame },
    advice: advice.slice(0, 1),
  })),
  checks: checks.filter(({ status }) => status === 'cannot-tell'),
});

function callSites(device: DeviceModel, event: number, mask: Uint8Array | undefined) {
  const { allocations } = device.replay;
  const live = new Uint8Array(allocations.length);
  for (const id of liveAt(allocations, event)) live[id] = mask?.[id] ?? 1;
  const table = callSiteTable(device, live);
  return Array.from(orderCallSites(device, table, 'total', true), (row) => {
    const isOlder = (table.preexisting[row] ?? 0) > 0;
    const line = callSiteLine(device.stacks, table.stack[row] ?? NO_STACK, isOlder);
    return {
      bytes: table.totalBytes[row] ?? 0,
      allocations: table.allocations[row],
      line: lineText(line),
    };
  });
}

/** `/workspace/train.py:21 (step)`: the full path, for an agent that opens the file. */
function lineText({ topFrame, leafFrame, stackKind }: CallSiteLine): string {
  const frame = topFrame ?? leafFrame;
  if (frame === undefined) return absenceText(stackKind);
  const place = `${frame.filename}:${frame.line} (${frame.name})`;
  return leafFrame === undefined || frame === leafFrame
    ? place
    : `${place} · ${leafText(leafFrame)}`;
}

function eventOf(device: DeviceModel, at: number | 'peak' | 'oom' | 'end' | undefined): number {
  const info = deviceInfo(device, 0);
  const last = info.events - 1;
  if (typeof at === 'number') {
    if (at >= -1 && at <= last) return at;
    throw refusal(`There is no event ${at}: the trace has events 0 to ${last}.`);
  }
  const oom = failedOoms(info)[0]?.event;
  if (at === 'end') return last;
  if (at === 'oom' && oom === undefined) throw refusal('No OOM was recorded on this device.');
  return at !== 'peak' && oom !== undefined ? oom : info.peaks.allocatedBytes.event;
}

async function maskOf(
  device: DeviceModel,
  text: string,
  at: number | undefined,
): Promise<Uint8Array | undefined> {
  if (mayHoldRegex(text)) await loadRegexEngine();
  const { mask, problem } = matchAllocations(device, text, at);
  if (problem === undefined) return mask;
  throw refusal(`Search, character ${problem.at + 1}: ${problem.message}`);
}

/** Plain data, so that any thread can answer it. */
export interface Question {
  readonly tool: string;
  readonly input: unknown;
}

/** @throws LoadError for questions that the agent can correct */
export async function answerQuestion({ tool: name, input }: Question): Promise<string> {
  const asked = TOOLS[name];
  if (asked === undefined) throw refusal('There is no such tool.');
  return asked.answer(z.object(asked.input).parse(input) as never);
}
